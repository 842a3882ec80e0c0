import { Effect } from "effect"
import { Deployment } from "../Deployment.ts"
import { PublicHttpPolicy } from "../PublicHttp/Policy.ts"
import { SiteVisitsPolicy } from "./Policy.ts"

/** Whom a visit may reach, by whatever means: what is public and not ours, and the pairs that the deployment lists. */
export const visitRules = Effect.gen(function* () {
  const { publicUrl, scannerUrl } = yield* Deployment
  const rules = yield* PublicHttpPolicy
  const { connectTimeout } = yield* SiteVisitsPolicy
  const own = [publicUrl, scannerUrl].map((url) => new URL(url).host)
  return {
    ...rules,
    // What a stranger names is never this machine, unless the pair is listed.
    allowLoopback: false,
    ownHosts: [...new Set([...rules.ownHosts, ...own])],
    connectTimeout
  } satisfies PublicHttpPolicy
})
