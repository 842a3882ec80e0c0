/** A scan as the reference shows it, with one check and one request of the many. */
export const exampleScan = {
  id: "0192f0c1-7d3a-7c3e-9b1a-5f2c8d9e0a11",
  domain: "shop.example.com",
  merchant_name: "Example Shop",
  merchant_category: "retail",
  country_code: "US",
  region: "north_america",
  url: "https://shop.example.com/",
  business_model: "retail",
  status: "completed",
  readiness_score: 72,
  score_range: { low: 70, high: 75 },
  band: "mostly_ready",
  protocol_score: 40,
  data_score: 81,
  accessibility_score: 92,
  checkout_score: 74,
  confidence: "high",
  gates: [],
  rubric_version: "2026-11.2",
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
        url: "https://shop.example.com/products/mug",
        status: 200,
        snippet: '{"@type":"Product","name":"Mug","offers":{"@type":"Offer","price":"12.50","priceCurrency":"USD"}}',
        ms: 182
      },
      fix: "Add sku or gtin, and brand, to the Product in the JSON-LD of product pages.",
      spec: "https://schema.org/Product"
    }
  ],
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
      response_time_ms: 140,
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
      gain: 3.6,
      fix: "Add sku or gtin, and brand, to the Product in the JSON-LD of product pages.",
      spec: "https://schema.org/Product"
    }
  ],
  requests: [
    {
      method: "GET",
      url: "https://shop.example.com/",
      user_agent: "TurnpikeScanner/1.0 (+https://api.turnpike.example/docs/scanner)",
      accept: "text/html",
      status: 200,
      failure: null,
      ms: 182,
      bytes: 48211
    }
  ],
  vantage: {
    user_agent: "TurnpikeScanner/1.0 (+https://api.turnpike.example/docs/scanner)",
    network: "direct, from api.turnpike.example"
  },
  scan_duration_ms: 2140,
  error_message: null,
  report_url: "http://127.0.0.1:4020/v1/scanner/scan/0192f0c1-7d3a-7c3e-9b1a-5f2c8d9e0a11/report?signature=XXXX",
  scanned_at: "2026-01-02T03:04:07.812Z",
  created_at: "2026-01-02T03:04:05.678Z",
  updated_at: "2026-01-02T03:04:07.812Z"
} as const
