import { Context, Effect, Layer } from "effect"
import { commandLine, parentOf, processes } from "#layers/EmbeddedPostgres/Processes.ts"
import * as Quarantine from "#layers/Quarantine.ts"
import { QuarantinePolicy } from "#layers/Quarantine/Policy.ts"
import { Deployment } from "#services/Deployment.ts"
import { PageReading } from "#services/PageReading.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { ShopBrowser } from "#services/ShopBrowser.ts"

const deployment = {
  environment: "sandbox",
  publicUrl: "http://turnpike.test",
  scannerUrl: "http://scanner.turnpike.test"
} as const

/** Both services of a process of their own, for the length of the scope. */
export const quarantineOf = (policy: Partial<QuarantinePolicy>, rules: Partial<PublicHttpPolicy> = {}) =>
  Layer.build(
    Layer.fresh(Quarantine.layer).pipe(
      Layer.provide(
        Layer.mergeAll(
          Layer.succeed(QuarantinePolicy, { ...QuarantinePolicy.defaultValue(), ...policy }),
          Layer.succeed(PublicHttpPolicy, { ...PublicHttpPolicy.defaultValue(), ...rules }),
          Layer.succeed(Deployment, deployment)
        )
      )
    )
  ).pipe(
    Effect.map((context) => ({ pages: Context.get(context, PageReading), browser: Context.get(context, ShopBrowser) }))
  )

/** The processes of this kind that a process has started and that live. */
export const quarantines = (parent = process.pid): ReadonlyArray<number> =>
  processes().filter(
    (pid) => parentOf(pid) === parent && commandLine(pid).some((word) => /Quarantine\/\w*Program\.ts$/.test(word))
  )
