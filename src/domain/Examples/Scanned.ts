import { rubricVersion } from "../Rubric.ts"

/** A shop as the scanner found it, for examples. */

const uuid = (last: string) => `01927f2e-8f6d-7c3b-9a51-2f0c9d3b7e${last}`
const created_at = "2026-01-02T03:04:05.678Z"
const completed_at = "2026-01-02T03:04:08.901Z"
const vantage = {
  user_agent: "TurnpikeScanner/1.0 (+https://api.turnpike.example/docs/scanner)",
  network: "direct, from api.turnpike.example"
}

/** Without checks and requests, as the event has it. */
export const scan = {
  id: uuid("14"),
  domain: "shop.example.com",
  merchant_name: "The small shop",
  merchant_category: "retail",
  country_code: "US",
  region: "north_america",
  url: "https://shop.example.com/",
  business_model: "retail",
  status: "completed",
  readiness_score: 72,
  score_range: { low: 69, high: 75 },
  band: "mostly_ready",
  protocol_score: 60,
  data_score: 85,
  accessibility_score: 80,
  checkout_score: 63,
  confidence: "high",
  gates: [],
  rubric_version: rubricVersion,
  protocol_results: [
    {
      protocol: "ucp",
      status: "confirmed",
      confidence: "high",
      version: "2026-08-25",
      detection_method: "/.well-known/ucp",
      endpoint_url: "https://shop.example.com/api/ucp/mcp",
      capabilities: ["dev.ucp.shopping.checkout"],
      is_functional: true,
      response_time_ms: 120,
      problems: []
    }
  ],
  structured_data: {
    product_url: "https://shop.example.com/products/mug",
    formats: ["json-ld"],
    product: {
      name: "Mug",
      price: "12.50",
      currency: "USD",
      availability: "InStock",
      sku: null,
      gtin: null,
      brand: null,
      image: "https://shop.example.com/mug.jpg"
    },
    types: ["Product", "Offer"]
  },
  accessibility: {
    robots_allows_agents: true,
    blocked_agents: [],
    challenge: null,
    differs_by_user_agent: false,
    works_without_javascript: true,
    requires_account: false,
    median_ttfb_ms: 182,
    http_version: "HTTP/1.1"
  },
  platform: "shopify",
  recommendations: [
    {
      check: "product_json_ld",
      priority: "high",
      gain: 4.5,
      fix: "Add sku or gtin, and brand, to the Product in the JSON-LD of product pages.",
      spec: "https://schema.org/Product"
    }
  ],
  vantage,
  scan_duration_ms: 3223,
  error_message: null,
  report_url: `http://127.0.0.1:4020/v1/scanner/scan/${uuid("14")}/report?signature=NnVJX2c`,
  scanned_at: completed_at,
  created_at,
  updated_at: completed_at
}

const unpaid = "No method that an agent can pay with is offered"

/** Without its requests, as the event has it. */
export const test = {
  id: uuid("15"),
  domain: scan.domain,
  test_type: "full_flow",
  status: "partial",
  success_rate: 80,
  steps: [
    { step: "discovery", status: "passed", rail: "platform_api", duration_ms: 410, detail: "", evidence: null },
    { step: "selection", status: "passed", rail: "platform_api", duration_ms: 220, detail: "", evidence: null },
    { step: "cart", status: "passed", rail: "platform_api", duration_ms: 380, detail: "", evidence: null },
    { step: "checkout", status: "passed", rail: "html_form", duration_ms: 900, detail: "", evidence: null },
    { step: "payment", status: "failed", rail: "html_form", duration_ms: 310, detail: unpaid, evidence: null }
  ],
  failure_point: { step: "payment", blocker: "unsupported_payment_method", detail: unpaid },
  blockers: [
    { id: "unsupported_payment_method", severity: "blocking", step: "payment", detail: unpaid, evidence: null }
  ],
  product: {
    name: "Mug",
    url: "https://shop.example.com/products/mug",
    sku: null,
    price: "12.50",
    currency: "USD",
    variant: null
  },
  platform: "shopify",
  recommendations: ["Offer a payment method that an agent can use, such as a card form or a UCP payment handler"],
  vantage,
  rubric_version: scan.rubric_version,
  test_duration_ms: 2220,
  report_url: `http://127.0.0.1:4020/v1/scanner/test/${uuid("15")}/report?signature=NnVJX2c`,
  tested_at: completed_at
}
