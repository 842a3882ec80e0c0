import { scenario } from "./scenario.mjs"

console.log(JSON.stringify(await scenario(JSON.parse(process.env.WORLD))))
process.exit(0)
