import { scan } from "#domain/Examples/Scanned.ts"

const [advice] = scan.recommendations

/** One request of the many that a visit makes. */
export const exampleRequest = {
  method: "GET",
  url: scan.url,
  user_agent: scan.vantage.user_agent,
  accept: "text/html",
  status: 200,
  failure: null,
  ms: 182,
  bytes: 48211
}

/** A scan as the reference shows it, with one check and one request of the many. */
export const exampleScan = {
  ...scan,
  checks: [
    {
      id: "product_json_ld",
      group: "data",
      title: "Product in JSON-LD",
      status: "warn",
      points: 12,
      max_points: 24,
      message: "The product has a name, an image and an offer, and no sku, gtin or brand.",
      evidence: {
        url: scan.structured_data.product_url,
        status: 200,
        snippet: '{"@type":"Product","name":"Mug","offers":{"@type":"Offer","price":"12.50","priceCurrency":"USD"}}',
        ms: 182
      },
      fix: advice?.fix ?? null,
      spec: advice?.spec ?? null
    }
  ],
  requests: [exampleRequest]
}
