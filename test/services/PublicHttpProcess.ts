import { gatewayTo } from "./PublicHttpHarness.ts"

// A gateway in its own process, so that its memory can be told from that of the two ends.
const { port } = await gatewayTo(Number(process.argv[2]), { timeoutMillis: 60_000 })
process.send?.({ port })
process.on("message", () => process.send?.({ rss: process.memoryUsage.rss() }))
process.on("disconnect", () => process.exit(0))
