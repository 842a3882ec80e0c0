import type { ScanFindings } from "#domain/Scan.ts"
import type { TestOutcome } from "#domain/ShoppingTest.ts"
import type { StepOutcome } from "#services/ShoppingEngine/Rail.ts"
import { versions } from "./Shop.ts"

/** One look at the shop: a scan, a test over the best way found, and the same purchase in a browser. */
export interface Run {
  readonly scan: ScanFindings
  readonly test: TestOutcome
  readonly browser: ReadonlyArray<StepOutcome & { readonly step: string }>
}

const cell = (value: unknown) =>
  String(value ?? "–")
    .replace(/\s+/g, " ")
    .replace(/\|/g, "\\|")
    .slice(0, 220)
const row = (...values: ReadonlyArray<unknown>) => `| ${values.map(cell).join(" | ")} |`
const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<string>) =>
  [row(...head), `|${head.map(() => "---").join("|")}|`, ...rows].join("\n")

export const sentence = (when: string, { scan, test }: Run) =>
  `${when}: readiness ${scan.readiness_score} (${scan.band}), test ${test.status}, ${test.success_rate} %, ` +
  `stopped by ${test.failure_point === null ? "nothing" : `${test.failure_point.step}: ${test.failure_point.blocker}`}`

const scores = (before: Run, after: Run) => {
  const fields = [
    "readiness_score",
    "accessibility_score",
    "data_score",
    "protocol_score",
    "checkout_score",
    "band",
    "confidence"
  ] as const
  const range = ({ scan: { score_range } }: Run) => score_range && `${score_range.low} to ${score_range.high}`
  return table(
    ["", "As it comes", "With payment and shipping"],
    [
      ...fields.map((field) => row(field, before.scan[field], after.scan[field])),
      row("score_range", range(before), range(after)),
      row("platform", before.scan.platform, after.scan.platform),
      row("requests", before.scan.requests.length, after.scan.requests.length)
    ]
  )
}

/** The checks that gave away points in either look, and those that could not be answered. */
const checks = (before: Run, after: Run) => {
  const later = new Map(after.scan.checks.map((check) => [check.id, check]))
  const told = before.scan.checks.filter((check) => {
    const other = later.get(check.id)
    return [check.status, other?.status].some(
      (status) => status === "fail" || status === "warn" || status === "unknown"
    )
  })
  return table(
    ["Check", "As it comes", "With payment and shipping", "What was seen"],
    told.map((check) => row(`\`${check.id}\``, check.status, later.get(check.id)?.status, check.message))
  )
}

const steps = ({ test }: Run) =>
  table(
    ["Step", "Status", "Over", "What happened"],
    test.steps.map(({ detail, rail, status, step }) => row(step, status, rail, detail))
  )
const browser = ({ browser }: Run) =>
  table(
    ["Step", "Status", "What happened", "Blockers"],
    browser.map(({ blockers, detail, status, step }) =>
      row(step, status, detail, blockers.map(({ id, severity }) => `${id} (${severity})`).join(", "))
    )
  )
const blockers = ({ test }: Run) =>
  test.blockers.length === 0
    ? "No blockers."
    : table(
        ["Blocker", "Severity", "Step", "Detail"],
        test.blockers.map(({ detail, id, severity, step }) => row(`\`${id}\``, severity, step, detail))
      )

/** The document, written anew by every run. */
export const report = (before: Run, after: Run, orders: number) => `# A real shop, scanned and tested

EverShop is an open-source shop that nobody here wrote. \`npm run shops:evershop\` installs it from npm into a folder of its own
(\`EVERSHOP_DIR\`, default \`.turnpike/evershop\`), starts it on an embedded Postgres with its fifteen sample products, scans it, runs a
\`full_flow\` test and goes through the same purchase in a browser; then it sets up cash on delivery and one way of shipping, as the
shop's manual says, and does all of it again. This page is what the last run wrote.

Run on ${new Date().toISOString().slice(0, 10)}; ${Object.entries(versions)
  .map(([name, version]) => `\`${name}\` ${version}`)
  .join(", ")}, Node ${process.versions.node}, rubric \`${before.scan.rubric_version}\`.
Rows in the shop's table of orders after both runs: **${orders}**.

## The scan

${scores(before, after)}

Checks that did not pass in one of them:

${checks(before, after)}

## The test, as the shop comes

\`${before.test.status}\`, ${before.test.success_rate} % of the steps.

${steps(before)}

${blockers(before)}

The same product in a browser:

${browser(before)}

## The test, with payment and shipping

\`${after.test.status}\`, ${after.test.success_rate} % of the steps.

${steps(after)}

${blockers(after)}

The same product in a browser:

${browser(after)}

## What an agent cannot do here, and why

- **Buy at all, as it comes.** Neither an agent nor a person can: the list of countries is empty, no way of shipping is defined and no
  payment method is active. The test stops at the first of them.
- **Read a price from data.** Product pages carry a few OpenGraph tags of type \`website\`, and neither JSON-LD nor a price in data.
- **Add to the cart without scripts.** The page's form has no address to be sent to: sent as HTML says, it loads the page again and the
  cart stays empty. An agent needs the shop's own interface or a browser.
- **Choose a variant by form.** Options are buttons in a list. Pressed too early, "Add to cart" prints "Please select variant options" and
  sends nothing: a click that looks like success.
- **Pay by itself.** With the settings above the only method is cash on delivery, which an agent can order with and not pay with.
- **See the checkout from outside.** It leads back while the cart is empty, so a scan leaves those checks unknown; only a test gets there.

Out of the box \`robots.txt\` disallows \`/cart\`, \`/checkout\`, \`/account\` and \`/api/\` for everybody. That governs crawling; a purchase
that a person asked for goes there once.
`
