import { Layer } from "effect"
import { Deployment } from "#services/Deployment.ts"
import * as BusMemory from "./BusMemory.ts"
import * as Platform from "./Platform.ts"
import * as Postgres from "./Postgres.ts"

const deployment = {
  environment: "sandbox",
  publicUrl: "http://turnpike.test",
  scannerUrl: "http://turnpike.test"
} as const

/** The whole platform over a private database and an in-process bus. Nothing else is replaced. */
export const layer = Platform.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Postgres.layerTest, BusMemory.layer, Layer.succeed(Deployment, deployment)))
)
