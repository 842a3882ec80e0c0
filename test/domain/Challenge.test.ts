import { assert, describe, it } from "vitest"
import { challengeOf } from "#domain/page/Challenge.ts"
import { cpuTime } from "./CpuTime.ts"

const page = (body: string) => `<!doctype html><html><head><title>Shop</title></head><body>${body}</body></html>`
const of = (status: number, headers: Record<string, string>, text: string, cookies: ReadonlyArray<string> = []) =>
  challengeOf(status, new Map(Object.entries({ ...headers, "set-cookie": cookies.join("; ") })), text)?.vendor

describe("a wall", () => {
  it.each([
    ["cloudflare", 403, { "cf-mitigated": "challenge" }, ""],
    ["cloudflare", 503, { server: "cloudflare" }, "<title>Just a moment...</title>"],
    ["cloudflare", 403, {}, page('<script src="/cdn-cgi/challenge-platform/h/b/orchestrate.js"></script>')],
    ["cloudflare", 403, { "cf-ray": "1" }, "<h1>Sorry, you have been blocked</h1>"],
    ["siteground", 202, {}, '<meta http-equiv="refresh" content="0;/.well-known/sgcaptcha/?r=%2F">'],
    ["datadome", 403, { "x-datadome": "protected" }, "<script src='https://ct.captcha-delivery.com/c.js'></script>"],
    ["human", 403, {}, '<div id="px-captcha"></div>'],
    ["human", 200, {}, '<div id="px-captcha"></div>'],
    ["akamai", 403, {}, "<TITLE>Access Denied</TITLE><H1>Access Denied</H1>Reference&#32;&#35;18&#46;aa"],
    ["imperva", 200, {}, '<iframe src="/_Incapsula_Resource?SWUDNSAI=31"></iframe>'],
    ["imperva", 200, {}, '<html><script src="/_Incapsula_Resource?SWJIYLWA=71"></script><body></body></html>'],
    ["datadome", 403, { "x-dd-b": "1" }, "{}"],
    ["aws-waf", 202, { "x-amzn-waf-action": "challenge" }, ""],
    ["aws-waf", 405, { "x-amzn-waf-action": "captcha" }, ""],
    ["kasada", 429, { "x-kpsdk-ct": "x" }, "<script src='/149e9513/ips.js?KP_UIDz=1'></script>"],
    ["captcha", 403, {}, page('<div class="g-recaptcha" data-sitekey="k"></div>')]
  ] as const)("of %s is seen at status %i", (vendor, status, headers, text) => {
    assert.strictEqual(of(status, headers, text), vendor)
  })

  it.each([
    ["Cloudflare in front", 200, { "cf-ray": "1", server: "cloudflare" }, page("Roses"), ["__cf_bm=1"]],
    [
      "Cloudflare's sensor on the page",
      200,
      { "cf-ray": "1" },
      page('<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>'),
      []
    ],
    ["DataDome's cookie", 200, { "x-datadome": "protected" }, page("Roses"), ["datadome=1"]],
    ["a refusal of the site's own behind DataDome", 403, { "x-datadome": "protected" }, "Forbidden", ["datadome=1"]],
    [
      "a refusal of the site's own with Cloudflare's sensor",
      403,
      { "cf-ray": "1" },
      page('<h1>No listing</h1><script src="/cdn-cgi/challenge-platform/h/b/scripts/jsd/1/main.js"></script>'),
      []
    ],
    [
      "Imperva's sensor on a short page",
      200,
      { "x-iinfo": "1" },
      '<script src="/_Incapsula_Resource?SWJIYLWA=71"></script><h1>Your cart is empty</h1>',
      []
    ],
    ["HUMAN's cookie", 200, {}, page("Roses"), ["_px3=1"]],
    ["Akamai's cookies", 200, {}, page("Roses"), ["_abck=1", "bm_sz=1"]],
    [
      "Imperva's cookie, and its script on a page of its own",
      200,
      { "x-iinfo": "1" },
      page(`${"Roses ".repeat(5000)}/_Incapsula_Resource`),
      ["incap_ses_1=1"]
    ],
    ["a captcha in a form of a shop's page", 200, {}, page('<form><div class="g-recaptcha"></div></form>'), []],
    ["a login that is asked for", 401, { "www-authenticate": "Basic" }, "Sign in", []],
    ["an ordinary refusal", 403, {}, page("Forbidden"), []],
    ["a shop that is down", 503, { "retry-after": "60" }, page("We are moving"), []],
    ["too many requests", 429, {}, "slow down", []],
    ["a missing page behind Cloudflare", 404, { "cf-ray": "1" }, page("Just a moment of your time"), []]
  ] as const)("is not %s", (_, status, headers, text, cookies) => {
    assert.isUndefined(of(status, headers as Record<string, string>, text, cookies))
  })

  it("is looked for in bounded time", () => {
    const before = cpuTime()
    for (const text of ["<TITLE>Access Denied</TITLE>".repeat(100_000), "window._pxAppId".repeat(200_000)])
      of(403, {}, text)
    assert.isBelow(cpuTime() - before, 1000)
  })
})
