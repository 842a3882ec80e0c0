import { scenario } from "./scenario.mjs"

export default {
  fetch: async (request) => Response.json(await scenario(await request.json()))
}
