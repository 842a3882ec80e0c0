import { Context } from "effect"
import type { Environment } from "#domain/Principal.ts"

/** Which Turnpike this is, and under which addresses the world reaches it. Addresses have no trailing slash. */
export class Deployment extends Context.Service<
  Deployment,
  {
    readonly environment: Environment
    readonly publicUrl: string
    readonly scannerUrl: string
  }
>()("turnpike/services/Deployment") {}
