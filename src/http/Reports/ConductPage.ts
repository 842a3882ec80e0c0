import { html } from "../Html.ts"
import { page } from "./Page.ts"

/** What the owner of a site learns who finds our name in a log. */
export const conductPage = (userAgent: string, name: string): string =>
  page(
    "Who looked at your site",
    `<h1>Who looked at your site</h1>
<p>Somebody asked how ready your shop is for autonomous shopping agents, and we looked, as</p>
<pre>${html(userAgent)}</pre>
<h2>What it does</h2>
<ul><li>A scan reads at most 24 public pages and documents within 8 seconds, at most 4 at a time.</li>
<li>A test goes shopping like a customer's agent, a quarter of a second between two requests, and empties the cart afterwards. It never
places an order, never logs in and never solves a captcha. Names and addresses that it writes into forms are its own, at example.com.</li>
<li>One request of a scan looks like a plain browser, to see whether the site treats the two differently.</li>
<li>It stops at the first challenge, and when it is told to come later.</li></ul>
<h2>How to keep it out</h2>
<p>It reads robots.txt first. This keeps it from reading your site:</p>
<pre>User-agent: ${html(name)}
Disallow: /</pre>
<p>Cart and checkout are closed to crawlers in most shops; a test opens them once, as a customer's agent does, unless you close them to
it by this name.</p>
<h2>How to see what it saw</h2>
<p>Every scan and every test is a record with each request that was made and what came back. Whoever asked for it can send you its report.</p>`
  )
