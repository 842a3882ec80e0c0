// The live rail on a real EVM: node test/interop/chain/chain.ts [words of a check's name]. One line per check; the exit code says it.
import * as Checks from "./Checks.ts"
import * as Devnet from "./Devnet.ts"
import { database } from "./Platform.ts"

const wanted = process.argv.slice(2).join(" ")
const devnet = await Devnet.start()
let failed = 0
try {
  const db = await database()
  const { checks, stop } = await Checks.make(devnet, db)
  for (const [name, check] of Object.entries(checks).filter(([name]) => name.includes(wanted))) {
    const started = performance.now()
    const fault = await check().then(
      () => undefined,
      (error: unknown) => error
    )
    if (fault !== undefined) failed++
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    console.log(`${fault === undefined ? "ok  " : "FAIL"} ${name} ${seconds} s`)
    if (fault !== undefined) console.log(fault)
  }
  await stop()
  await db.close()
} finally {
  devnet.stop()
}
process.exitCode = failed === 0 ? 0 : 1
