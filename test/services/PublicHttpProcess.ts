import { gatewayTo } from "./PublicHttpHarness.ts"

// A gateway in its own process, so that its memory can be told from that of the two ends.
const { port } = await gatewayTo(Number(process.argv[2]))
process.send?.({ port })
process.on("message", () => {
  globalThis.gc?.()
  const { external, heapUsed, rss } = process.memoryUsage()
  process.send?.({ kept: heapUsed + external, rss })
})
process.on("disconnect", () => process.exit(0))
