import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import type { ScannerRubric } from "#api/ScannerRubric.ts"
import * as Economics from "#domain/Economics.ts"
import { bands, gateCaps, groupWeights, questionIds, rubric, rubricVersion } from "#domain/Rubric.ts"

const known: ScannerRubric = {
  version: rubricVersion,
  questions: questionIds.map((id) => ({ id, ...rubric[id] })),
  weights: groupWeights,
  gates: [
    { id: "robots_disallow_agents", cap: gateCaps.robots_disallow_agents },
    { id: "agents_challenged", cap: gateCaps.agents_challenged }
  ],
  bands: bands.map(([id, from]) => ({ id, from })),
  economics: {
    version: Economics.economicsTableVersion,
    baselines: Economics.baselines,
    agent_share: Economics.agentShare,
    uplift: Economics.agentUplift,
    region_factors: Economics.regionFactors,
    region_factors_basis: Economics.regionFactorBasis
  }
}

/** It changes with a release only. */
const headers = { "cache-control": "public, max-age=3600" }

export const layer = HttpApiBuilder.group(Api, "scanner_rubric", (handlers) =>
  handlers.handleAll({
    get: () =>
      Effect.as(
        HttpEffect.appendPreResponseHandler((_, response) =>
          Effect.succeed(HttpServerResponse.setHeaders(response, headers))
        ),
        known
      )
  })
)
