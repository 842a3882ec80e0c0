import type { Terms } from "./Terms.ts"

const testType =
  "How far it goes: `browse` tries discovery, `search` selection too, `add_to_cart` the cart too, `checkout` the checkout too, and " +
  "`full_flow` the payment methods too"
const step =
  "`discovery`: are there products; `selection`: one is chosen; `cart`: it is put in; `checkout`: as a guest, until the total; `payment`: which " +
  "methods are offered"
const evidence = "A piece of what was seen, at most 300 characters; null where there is none"

/** Of tests of shops: how far an agent came, what stopped it, and what that may cost. */
export const shoppingTests: Terms = {
  CreateShoppingTest: {
    domain:
      "The shop's domain, or an address at it: one spelling is made of it, lower case, without scheme, path, port and final dot, in A-labels",
    test_type: `${testType}. Left out: \`full_flow\``
  },
  AgentShoppingTestResult: {
    id: "UUID of the test",
    domain: "The domain in the one spelling that it has here: lower case, without scheme, path and port, in A-labels",
    test_type: testType,
    status:
      "`passed`: every planned step; `failed`: one failed before any was completed; `partial`: everything else, also where a step could not " +
      "be tried from here",
    success_rate: "Completed steps in percent of the planned ones, to one decimal",
    steps: "The planned steps in order, with what became of each",
    blockers: "What stopped or hindered the agent, in the order of the steps; each once a step",
    failure_point:
      "Where a failure ended the test; null where none did, also where a step could not be tried from here",
    "failure_point.step": "The step that failed",
    "failure_point.blocker": "`id` of the blocker that stopped it",
    "failure_point.detail": "What happened, in words",
    product: "What the agent chose to buy; null where it came to no choice",
    platform: "What the shop runs on, such as `shopify` or `woocommerce`; null where nothing tells",
    recommendations: "What the merchant can do, in words: once for each kind of blocker, what stops an agent first",
    requests:
      "Every request that was sent, in order, and then those of the browser: its documents and what scripts asked for, at most 120",
    vantage: "From where and as whom we shopped: a wall that we met may stand for us alone",
    rubric_version: "Version of the rubric at that time",
    test_duration_ms: "How long shopping took, in milliseconds",
    estimated_monthly_agent_visits:
      "Visits of agents in a month to an average merchant of the category, rounded; absent where the newest scan of the domain knows no category",
    estimated_lost_conversions: "Orders that such visits may lose in a month, rounded; absent without a category",
    estimated_lost_revenue_usd:
      "What those orders are worth in a month, in US dollars to the cent, from the unrounded orders; absent without a category",
    economics: "Every figure that went into the estimates; absent without a category",
    report_url: "The test as a page for people; opens without a key for whoever has this address",
    tested_at: "When the test ended"
  },
  StepResult: {
    step,
    status:
      "`degraded`: passed with a warning; `skipped`: came after a stop; `unknown`: could not be tried from here, as `detail` says, and is no failure",
    rail:
      "Over which interface of the shop it went: `ucp`, `platform_api` (its platform's JSON), `html_form` (its pages without scripts) or " +
      "`browser`; null where it was not tried",
    duration_ms: "How long it took, in milliseconds; 0 where it was not tried",
    detail: "What happened, in words, at most 500 characters",
    evidence
  },
  Blocker: {
    id:
      "What it was. `no_structured_data`: price or currency is not told, or in text alone; `javascript_wall`: only a browser saw it, or came through; " +
      "`order_taken`: the shop took an order all the same, to be cancelled; `order_uncertain`: look whether it did; `three_ds_likely`: cards may " +
      "ask for a person; `only_deferred_payment`: nothing can be paid at once",
    severity:
      "`blocking`: an agent cannot go on; `warning`: it went on with less certainty, or could not tell from here",
    step,
    detail: "What happened, in words, at most 500 characters",
    evidence
  },
  ChosenProduct: {
    name: "What the shop calls it",
    url: "Its page; null where it has none",
    sku: "The merchant's own number of it; null where it is not told",
    price: "What one costs, a decimal string as the shop states it",
    currency: "Currency of the price; null where the shop does not say",
    variant: "Which of its variants, by its name; null where the catalogue tells of none"
  },
  Economics: {
    merchant_category: "The category that the newest scan of the domain knew when the test ended",
    region: "The region that it knew; null where nobody said one",
    monthly_sessions: "Visits a month to an average merchant of the category, of people and programs",
    agent_share: "Share of them that come from agents, from 0 to 1",
    conversion_rate: "Share of visits that end in an order, from 0 to 1",
    average_order_value_usd: "An average order, in US dollars, before `region_factor`",
    uplift: "By how much agents' visits convert better than others: a factor",
    region_factor: "By what the order value is multiplied for the region; 1 where none is known",
    failure_rate:
      "Share of the agents that would not come through, from 0 to 1: 1 - `success_rate` / 100, and 0 where no step failed",
    table_version: "Version of these figures, `economics.version` of `GET /v1/scanner/rubric`"
  }
}
