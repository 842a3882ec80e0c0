import type { ShoppingTest, ShopRail } from "#domain/ShoppingTest.ts"
import { html } from "../Html.ts"
import { link, page, prose, requestsTable, tag, words } from "./Page.ts"

// Each asks for its format when it is needed: the first one of a process takes as long to make as a hundred files to load.
const dollars = (amount: number): string => amount.toLocaleString("en-US", { style: "currency", currency: "USD" })
const whole = (count: number): string => count.toLocaleString("en-US")

const capital = (word: string) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`

const rails: Readonly<Record<ShopRail, string>> = {
  ucp: "UCP",
  platform_api: "the platform's interface",
  html_form: "the pages' forms",
  browser: "a browser"
}

const stepsOf = (test: ShoppingTest): string =>
  test.steps
    .map(({ detail, duration_ms, evidence, rail, status, step }) => {
      const how = rail === null ? "" : ` over ${html(rails[rail])}`
      const seen = evidence === null ? "" : `<pre>${html(evidence)}</pre>`
      return `<section class="item"><header>${tag(status)}<h3>${html(capital(step))}</h3><span class="small faint">${duration_ms} ms${how}</span></header>
<p>${prose(detail)}</p>${seen}</section>`
    })
    .join("\n")

const blockersOf = (test: ShoppingTest): string => {
  if (test.blockers.length === 0) return "<p>Nothing stood in the way.</p>"
  return test.blockers
    .map(({ detail, evidence, id, severity, step }) => {
      const seen = evidence === null ? "" : `<pre>${html(evidence)}</pre>`
      return `<section class="item"><header>${tag(severity)}<h3>${html(capital(words(id)))}</h3><span class="small faint">${html(step)}</span></header>
<p>${prose(detail)}</p>${seen}</section>`
    })
    .join("\n")
}

const economicsOf = (test: ShoppingTest): string => {
  const { economics } = test
  if (economics === undefined) return ""
  const inputs = Object.entries(economics).map(
    ([name, value]) => `<tr><td>${html(words(name))}</td><td>${html(String(value ?? "unknown"))}</td></tr>`
  )
  return `<h2>What that may cost</h2>
<ul class="scores"><li>Agents' visits a month<b>${whole(test.estimated_monthly_agent_visits ?? 0)}</b></li>
<li>Lost purchases a month<b>${whole(test.estimated_lost_conversions ?? 0)}</b></li><li>Lost revenue a month<b>${dollars(test.estimated_lost_revenue_usd ?? 0)}</b></li></ul>
<p class="faint">A projection from averages of the category, good for a direction only. These numbers went into it:</p>
<details><summary>Inputs</summary><table><tbody>${inputs.join("\n")}</tbody></table></details>`
}

/** What is known of orders: that there was none is said only where nothing speaks against it. */
const orderedIn = ({ blockers }: ShoppingTest): { readonly alarm: string; readonly sentence: string } => {
  const taken = blockers.find(({ id }) => id === "order_taken")
  if (taken !== undefined)
    return {
      alarm: `<p class="item bad"><b>The shop took this test as an order.</b> ${prose(taken.detail)} We are sorry: a test should never order.</p>`,
      sentence: "The shop took what was sent as an order; see above."
    }
  const uncertain = blockers.find(({ id }) => id === "order_uncertain")
  if (uncertain !== undefined)
    return {
      alarm: `<p class="item bad"><b>The shop may have taken this test as an order.</b> ${prose(uncertain.detail)}</p>`,
      sentence: "Whether the shop took what was sent as an order is not known; see above."
    }
  return { alarm: "", sentence: "Nothing was ordered." }
}

/** A test as a page that a merchant forwards to a colleague. */
export const testReport = (test: ShoppingTest): string => {
  const { failure_point: stop, product } = test
  const bought =
    product === null
      ? ""
      : `<p>Product: ${product.url === null ? html(product.name) : link(product.url, product.name)}${
          product.price === null ? "" : `, ${html(product.price)} ${html(product.currency ?? "")}`
        }</p>`
  const where = stop === null ? "" : `<p class="item bad">Stopped at ${html(stop.step)}: ${html(stop.detail)}</p>`
  const emptied = test.steps.some(({ status, step }) => step === "cart" && status !== "skipped")
    ? " What was put into the cart was taken out again, as far as the shop lets an agent do that."
    : ""
  const { alarm, sentence } = orderedIn(test)
  const advice = test.recommendations.map((line) => `<li>${prose(line)}</li>`)
  return page(
    `Synthetic checkout at ${test.domain}`,
    `<header><p class="faint">Synthetic agent checkout, ${html(words(test.test_type))}</p><h1>${html(test.domain)}</h1>
<p class="faint">${test.tested_at.toISOString().replace("T", " ").slice(0, 16)} UTC · rubric ${html(test.rubric_version)}</p></header>
<p class="lead">More and more people let a program, a shopping agent, find and buy things for them. A program went shopping on this site as
such an agent would, up to the moment of ordering, and this page says how far it came and what stood in its way.</p>
<ul class="scores"><li class="main">Steps completed<b>${test.success_rate}<span class="small faint"> %</span></b>${tag(test.status)}</li></ul>
${alarm}${where}${bought}
<h2>Steps</h2>${stepsOf(test)}
<h2>What stood in the way</h2>${blockersOf(test)}
${advice.length === 0 ? "" : `<h2>What to do</h2><ol>${advice.join("\n")}</ol>`}
${economicsOf(test)}
<h2>How this was seen</h2>
<p>As <code>${html(test.vantage.user_agent)}</code>, network: ${html(test.vantage.network)}, in ${test.test_duration_ms} ms. ${sentence}${emptied}</p>
${requestsTable(test.requests)}
<p class="small faint">Test ${html(test.id)}</p>`
  )
}
