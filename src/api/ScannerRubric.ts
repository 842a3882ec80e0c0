import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { economicsTableVersion } from "#domain/Economics.ts"
import { rubricVersion } from "#domain/Rubric.ts"
import { Band, CheckGroup, Gate, MerchantCategory, Region } from "#domain/Scan.ts"
import { documented } from "./Documented.ts"
import { Visitors } from "./Visitors.ts"

/** How much of the readiness score each group is worth; of a kind of site they add up to 1. */
const Weights = Schema.Record(CheckGroup, Schema.Finite)

/** One row of the table behind the estimates. Sessions are assumed everywhere; `standing` is that of the other two figures. */
const Baseline = Schema.Struct({
  monthly_sessions: Schema.Finite,
  conversion_rate: Schema.Finite,
  average_order_value_usd: Schema.Finite,
  standing: Schema.Literals(["published", "assumed"]),
  basis: Schema.String
})
const Assumption = Schema.Struct({ value: Schema.Finite, basis: Schema.String })

/** Everything that decides about a score and an estimate, so that anybody can do them again. */
export const ScannerRubric = Schema.Struct({
  version: Schema.String,
  questions: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      group: CheckGroup,
      title: Schema.String,
      points: Schema.Finite,
      spec: Schema.NullOr(Schema.String)
    })
  ),
  weights: Schema.Struct({ shop: Weights, service: Weights }),
  gates: Schema.Array(Schema.Struct({ id: Gate.fields.id, cap: Schema.Int })),
  bands: Schema.Array(Schema.Struct({ id: Band, from: Schema.Int })),
  economics: Schema.Struct({
    version: Schema.String,
    baselines: Schema.Record(MerchantCategory, Baseline),
    agent_share: Assumption,
    uplift: Assumption,
    region_factors: Schema.Record(Region, Schema.Finite),
    region_factors_basis: Schema.String
  })
}).annotate({ identifier: "ScannerRubric" })
export type ScannerRubric = typeof ScannerRubric.Type

const retail = {
  monthly_sessions: 100_000,
  conversion_rate: 0.025,
  average_order_value_usd: 150,
  standing: "published",
  basis: "Conversion of all industries is 1.9-3.2 %."
} as const

const get = HttpApiEndpoint.get("get", "/rubric", { success: ScannerRubric }).annotateMerge(
  documented({
    summary: "How scores and estimates come about",
    description:
      "The questions of a scan with what each is worth, the weights of the groups, the gates and the bands; and the table behind the " +
      "estimates of a test, with its sources. Whoever changes one of them gives it another version, which every record names. For " +
      "everybody.",
    answer: {
      version: rubricVersion,
      questions: [
        {
          id: "product_json_ld",
          group: "data",
          title: "Product in JSON-LD",
          points: 24,
          spec: "https://schema.org/Product"
        }
      ],
      weights: {
        shop: { accessibility: 0.25, data: 0.3, protocol: 0.2, checkout: 0.25 },
        service: { accessibility: 0.25, data: 0.25, protocol: 0.3, checkout: 0.2 }
      },
      gates: [{ id: "agents_challenged", cap: 30 }],
      bands: [
        { id: "ready", from: 80 },
        { id: "not_ready", from: 0 }
      ],
      economics: {
        version: economicsTableVersion,
        baselines: {
          retail,
          saas: retail,
          marketplace: retail,
          restaurant: retail,
          b2b: retail,
          travel: retail,
          fintech: retail,
          healthcare: retail,
          media: retail,
          other: retail
        },
        agent_share: { value: 0.01, basis: "All AI assistants together are about 1 % of sessions." },
        uplift: { value: 1, basis: "Studies contradict each other." },
        region_factors: { latam: 1, north_america: 1, europe: 0.87, africa: 0.87, mena: 0.87, apac: 0.73 },
        region_factors_basis: "Order values of one benchmark."
      }
    }
  })
)

export class ScannerRubricApi extends HttpApiGroup.make("scanner_rubric")
  .add(get)
  .middleware(Visitors)
  .prefix("/v1/scanner")
  .annotateMerge(
    OpenApi.annotations({ title: "Scanner rubric", description: "What scores and estimates are made of." })
  ) {}
