import { MerchantCategory, Region } from "#domain/Scan.ts"
import type { Terms } from "./Terms.ts"

type Fields = Terms[string]

/** The same texts of what is below each of these paths. */
const below = (paths: ReadonlyArray<string>, fields: Fields): Fields =>
  Object.fromEntries(
    paths.flatMap((path) => Object.entries(fields).map(([field, text]) => [`${path}.${field}`, text] as const))
  )
/** A text of each of these names, below a path. */
const each = (path: string, names: ReadonlyArray<string>, text: (name: string) => string): Fields =>
  Object.fromEntries(names.map((name) => [`${path}.${name}`, text(name)]))

const group = {
  accessibility: "Whether an agent gets in and can work the pages",
  data: "Whether products, prices and policies can be read as data",
  protocol: "Whether the site speaks protocols of agents",
  checkout: "Whether an agent can buy"
}
const assumption = {
  value: "The figure that every estimate uses",
  basis: "Where the figure comes from, in words"
}

const ScannerRubric: Fields = {
  version: "Version of questions, weights, gates and bands; records name it as `rubric_version`",
  questions: "What a scan asks, in the order of a scan's `checks`",
  "questions.id": "Name of the question; the `id` of its check in every scan",
  "questions.group": "Which of the four sub-scores it counts in",
  "questions.title": "What is asked, for people",
  "questions.points": "What a `pass` is worth within its group; 0: it is told, and never counts",
  "questions.spec": "Address of the standard that it asks for; null where there is none",
  weights: "How much of `readiness_score` each group is worth; of a group without a score the others take the share",
  "weights.shop": "Of shops: 1 in sum",
  "weights.service":
    "Of sites whose customers are programs or readers, 1 in sum: `saas`, `media`, `fintech` and `b2b` where the category was " +
    "said, else every `business_model` but `retail`, `marketplace` and null",
  ...below(["weights.shop", "weights.service"], group),
  gates: "What caps `readiness_score` whatever the groups say",
  "gates.id":
    "`robots_disallow_agents`: robots.txt keeps every shopping agent from the home page; `agents_challenged`: the home page refuses agents",
  "gates.cap": "The highest `readiness_score` behind it",
  bands: "What scores are called, best first",
  "bands.id": "Name of the band, as in a scan's `band`",
  "bands.from": "The least `readiness_score` in it",
  economics: "What the estimates of tests are made of",
  "economics.version": "Version of these figures; tests name it as `economics.table_version`",
  "economics.baselines": "What an average merchant of each category is taken to be",
  ...each(
    "economics.baselines",
    MerchantCategory.literals,
    (name) => `The average merchant of the category \`${name}\``
  ),
  ...below(
    MerchantCategory.literals.map((name) => `economics.baselines.${name}`),
    {
      monthly_sessions: "Visits a month, of people and programs; assumed in every category",
      conversion_rate: "Share of visits that end in an order, from 0 to 1",
      average_order_value_usd: "An average order, in US dollars",
      standing: "`published`: at least one of conversion and order value has a source; `assumed`: both are ours",
      basis: "Where conversion and order value come from, in words"
    }
  ),
  "economics.agent_share": "Share of the visits that come from agents, from 0 to 1",
  "economics.uplift": "By how much agents' visits convert better than others: a factor, 1 where they do not",
  ...below(["economics.agent_share", "economics.uplift"], assumption),
  "economics.region_factors": "By what the order value is multiplied where the merchant's region is known; else by 1",
  ...each("economics.region_factors", Region.literals, (name) => `Factor of the region \`${name}\``),
  "economics.region_factors_basis": "Where the factors come from, in words"
}

const counted = {
  scans: "How many scans that ended, failed ones included",
  average_score: "Mean `readiness_score` of those that have one, to one decimal; null where none has"
}
const spoken = (name: string) => `Domains that speak ${name}`
const unseeable = (name: string) => `${name}; 0, because nobody can see it from outside`

const ScanStatistics: Fields = {
  total: "How many scans there are, those under way included",
  domains: "How many domains have a scan that ended",
  by_status: "How many scans have each status now",
  "by_status.pending": "Waiting to begin",
  "by_status.scanning": "Under way",
  "by_status.completed": "Completed less than 24 hours ago",
  "by_status.failed": "The site could not be looked at",
  "by_status.stale": "Completed 24 hours ago or earlier",
  by_category:
    "Scans that ended, by the merchant's category at that time: the values of `merchant_category`, and `unknown` where nobody said one",
  ...below(["by_category"], counted),
  by_region: "Scans that ended, by the merchant's region at that time",
  ...each("by_region", Region.literals, (name) => `Of merchants that were said to be of \`${name}\``),
  "by_region.unknown": "Of merchants whose region nobody said",
  ...below(
    [...Region.literals, "unknown"].map((name) => `by_region.${name}`),
    counted
  ),
  by_band: "How many scans that ended have a score of each band, stale ones included",
  "by_band.ready": "`readiness_score` from 80",
  "by_band.mostly_ready": "`readiness_score` from 60 to 79",
  "by_band.partly_ready": "`readiness_score` from 40 to 59",
  "by_band.not_ready": "`readiness_score` below 40",
  average_score: "Mean `readiness_score` of all scans that have one, to one decimal; null where none has",
  protocol_adoption:
    "How many domains speak each protocol: the newest completed scan of the domain found it `confirmed`, `eligible` or `platform_enabled`",
  "protocol_adoption.ucp": spoken("UCP, the Universal Commerce Protocol"),
  "protocol_adoption.acp": spoken("ACP, the Agentic Commerce Protocol"),
  "protocol_adoption.x402": spoken("x402, payment by the call"),
  "protocol_adoption.ap2": spoken("AP2, the Agent Payments Protocol"),
  "protocol_adoption.mcp": spoken("MCP, the Model Context Protocol"),
  "protocol_adoption.a2a": spoken("A2A, the Agent2Agent Protocol"),
  "protocol_adoption.nlweb": spoken("NLWeb, questions in plain language"),
  "protocol_adoption.webmcp": spoken("WebMCP, tools of pages"),
  "protocol_adoption.visa_vic": unseeable("Domains in Visa Intelligent Commerce"),
  "protocol_adoption.mastercard_agentpay": unseeable("Domains in Mastercard Agent Pay")
}

const CreditEntry: Fields = {
  id: "Place of the entry in the ledger: a later entry has a greater one, and numbers between may be missing",
  delta: "By how many whole credits the balance changed; below zero for what was charged",
  reason:
    "`grant`: given by the operator; `consume`: charged before the work; `refund`: returned because it was not done; `adjustment`: any " +
    "other movement",
  source: "Id of the request that was charged (`X-Request-ID`), also of its refund; null where nothing was charged",
  balance_after: "Whole credits that were left after it",
  metadata:
    "What was charged: `operation` (`scan`, `test` or `batch`), its `domain` or how many `targets`, `charge_id`, which a charge and its " +
    "refund share, and of what was returned `return_reason`. Empty for a grant"
}

const CreditBalance: Fields = {
  balance: "Whole credits that are left to spend",
  granted_total: "Whole credits that were ever granted: `balance` and `consumed_total` together",
  consumed_total: "Whole credits that were charged and not returned; what is under way is among them"
}

const keyScopes =
  "`scan` and `tests` order scans and tests, `batch` orders, reads and cancels batches, `read` reads scans, tests, reports and credits"
const key = {
  id: "Id of the scanner key, by which it is revoked",
  name: "What its maker called it",
  environment: "Where it works: `test` in a sandbox, `live` on a live server",
  scopes: `What it may do: ${keyScopes}`,
  prefix: "What it begins with: `psk_test_` or `psk_live_`",
  last_four: "Its last four characters, to tell it from others"
}

const ScanBatch: Fields = {
  id: "UUID of the batch",
  name: "What it was called when it was ordered; null where it was not",
  description: "What was said of it when it was ordered; null where nothing was",
  status:
    "`processing` until every target has ended; `cancelled` as soon as it was cancelled, while scans under way still end (see `completed_at`)",
  total: "How many targets there are; a domain that was named twice is one",
  completed: "How many targets have a completed scan, new or fresh",
  failed: "How many targets could not be scanned",
  cancelled: "How many targets were not begun because the batch was cancelled",
  credits_charged: "Whole credits that were charged before: half a credit for each target, rounded up in sum",
  credits_returned:
    "Whole credits that come back when the batch is over, for targets that failed, were cancelled or had a fresh scan; 0 until then",
  targets: "The domains, in the order in which they were first named",
  created_at: "When it was ordered",
  completed_at: "When its last target ended; null until then"
}

const ScanBatchTarget: Fields = {
  domain: "The domain in the one spelling that it has here: lower case, without scheme, path and port, in A-labels",
  status: "`pending`: waiting, also to be tried again; `cancelled`: not begun when the batch was cancelled",
  scan_id: "The scan to read; null until there is one, and where nothing was looked at",
  readiness_score: "That of the scan; null until it is completed, and where too little was seen for one"
}

const scanId = "UUID of the scan, from `id` of its record or `scan_id` of a batch's target"
const testId = "UUID of the test, from `id` of its record"
const batchId = "UUID of the batch, from `id` of its record"
const domainInPath = "The domain, URL-encoded, in any spelling that an order may have"
const signature =
  "Signature of the address, as `report_url` of the record has it. Left out: a key that may read scans is needed"

/** Of what is ordered from the scanner, and how it is paid for and read. */
export const scanner: Terms = {
  ScannerRubric,
  ScanStatistics,
  CreditEntry,
  CreditBalance,
  ScannerKey: {
    ...key,
    revoked_at: "When it was revoked; null while it works. It is listed for 30 days after that"
  },
  IssuedScannerKey: {
    ...key,
    key: "The key itself, for `Authorization: Bearer`; shown in this answer and never again",
    warning: "A reminder to store the key"
  },
  CreateScannerKey: {
    name: "What to call it in lists; names need not differ",
    scopes: `What it may do: ${keyScopes}. Its maker needs \`scanner:read\` for \`read\` and \`scanner:write\` for the others`
  },
  ScanBatch,
  ScanBatchTarget,
  "scans.get": { id: scanId },
  "scans.freshest": { domain: domainInPath },
  "scans.history": { domain: domainInPath },
  "scans.list": {
    category: "Merchants of this category, as it was known when the scan ended",
    region: "Merchants of this region, as it was known when the scan ended",
    status: "`completed`: less than 24 hours old; `stale`: completed and older; left out: of any status"
  },
  "shopping_tests.recent": { domain: domainInPath },
  "shopping_tests.get": { id: testId },
  "scan_batches.create": {
    targets: "What to scan, 1 to 500; of a domain that is named twice the first stands",
    name: "A name of yours, kept and shown; it may be anything",
    description: "A note of yours, kept and shown",
    skip_if_fresh:
      "That of every target without one. True: a completed scan of less than 24 hours is taken for nothing; left out: false"
  },
  "scan_batches.get": { id: batchId },
  "scan_batches.cancel": { id: batchId },
  "scanner_reports.scan": { id: scanId, signature },
  "scanner_reports.test": { id: testId, signature },
  "badges.badge": { domain: "The domain; `.svg` may follow it" }
}
