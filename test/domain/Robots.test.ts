import { createRequire } from "node:module"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { isNamed, readRobots, robotsAllows, robotsOf, robotsVerdict } from "#domain/Robots.ts"
import { cpuTime } from "./CpuTime.ts"

interface Parsed {
  isAllowed(url: string, agent: string): boolean | undefined
}
const parser: (url: string, text: string) => Parsed = createRequire(import.meta.url)("robots-parser")

const shop = `# our shop
User-agent: *
Disallow: /cart
Allow: /cart/help$
Disallow: /*?sort=
Crawl-delay: 2
Content-Signal: search=yes, ai-train=no

User-Agent: GPTBot/1.2
user-agent: CCBot   # training
Disallow: /

Sitemap: https://shop.com/a.xml
Sitemap: /b.xml
`

describe("a robots.txt", () => {
  it("tells each crawler what its own group says, or the one for everybody", () => {
    const robots = readRobots(shop)
    const allows = (agent: string, path: string) => robotsAllows(robots, agent, path)
    assert.deepStrictEqual(
      [allows("TurnpikeScanner", "/"), allows("TurnpikeScanner", "/cart"), allows("TurnpikeScanner", "/cart/help")],
      [true, false, true]
    )
    assert.deepStrictEqual([allows("X", "/p?sort=a"), allows("X", "/p?page=2&sort=a")], [false, true])
    assert.deepStrictEqual(
      [allows("gptbot", "/"), allows("CCBot/2.0", "/p"), allows("GPTBot", "/robots.txt")],
      [false, false, false]
    )
    assert.deepStrictEqual(robotsVerdict(robots, "GPTBot", "/"), {
      isAllowed: false,
      rule: { allow: false, pattern: "/", line: 11 },
      under: "gptbot"
    })
    assert.deepStrictEqual([isNamed(robots, "CCBot"), isNamed(robots, "ClaudeBot")], [true, false])
    assert.deepStrictEqual(robots.sitemaps, ["https://shop.com/a.xml", "/b.xml"])
    assert.deepStrictEqual(robots.lines, [
      { name: "crawl-delay", value: "2", line: 6, agents: ["*"] },
      { name: "content-signal", value: "search=yes, ai-train=no", line: 7, agents: ["*"] }
    ])
  })

  it("joins the groups of one name, and lets the longest rule decide, and the kinder of two as long", () => {
    const robots = readRobots(
      "user-agent: a\nallow: /x\n\nuser-agent: b\ndisallow: /\n\nuser-agent: a\ndisallow: /x\ndisallow: /x/y"
    )
    assert.deepStrictEqual(
      ["/x", "/x/y/z", "/z"].map((path) => robotsAllows(robots, "a", path)),
      [true, false, true]
    )
  })

  it("holds one group for names that only lines of other kinds stand between", () => {
    for (const between of ["Crawl-delay: 5\n", "Content-Signal: ai-train=no\n\n", "Sitemap: /a.xml\n", "Host: a\n"]) {
      const robots = readRobots(`User-agent: Claude-User\n${between}User-agent: GPTBot\nDisallow: /`)
      for (const agent of ["Claude-User", "GPTBot"]) assert.isFalse(robotsAllows(robots, agent, "/"), between)
    }
    const apart = readRobots("User-agent: Claude-User\nAllow: /\nCrawl-delay: 5\nUser-agent: GPTBot\nDisallow: /")
    assert.isTrue(robotsAllows(apart, "Claude-User", "/"), "after a rule, a name begins another")
  })

  it("allows everything when it says nothing", () => {
    for (const text of [
      "",
      "User-agent: *\nDisallow:",
      "<!doctype html><p>Not found: sorry</p>",
      "\uFEFF",
      "Disallow: /"
    ]) {
      assert.isTrue(robotsAllows(readRobots(text), "TurnpikeScanner", "/"), text)
    }
    assert.isFalse(robotsAllows(readRobots("\uFEFFUser-agent: *\r\nDisallow: /"), "TurnpikeScanner", "/"))
  })

  it("that is not there allows everything, and one whose server is in trouble nothing", () => {
    const allows = (status: number) => robotsAllows(robotsOf(status, "User-agent: *\nDisallow: /"), "X", "/")
    assert.deepStrictEqual([404, 401, 403, 410].map(allows), [true, true, true, true])
    assert.deepStrictEqual([400, 499].map(allows), [true, true])
    assert.deepStrictEqual([200, 429, 500, 503, 302].map(allows), [false, false, false, false, false])
  })

  it("is read where it is there, and not where the answer only sends somewhere else", () => {
    const cart = (status: number) => {
      const robots = robotsOf(status, "User-agent: *\nDisallow: /cart")
      return ["/", "/cart"].map((path) => robotsAllows(robots, "X", path))
    }
    for (const status of [200, 203, 299]) assert.deepStrictEqual(cart(status), [true, false], String(status))
    for (const status of [199, 300]) assert.deepStrictEqual(cart(status), [false, false], String(status))
  })

  it("compares paths however they are escaped", () => {
    const robots = readRobots("User-agent: *\nDisallow: /caf%c3%a9\nDisallow: /straße")
    assert.deepStrictEqual(
      ["/caf%C3%A9", "/stra%c3%9fe/1", "/cafe"].map((path) => robotsAllows(robots, "X", path)),
      [false, false, true]
    )
  })

  it("is judged as robots-parser judges it", () => {
    const piece = fc.constantFrom("/", "a", "b", "ab", "*", "$", "?", "%2f", "é")
    const path = fc.array(piece, { maxLength: 6 }).map((pieces) => `/${pieces.join("").replaceAll("*", "b")}`)
    const rule = fc.tuple(fc.constantFrom("Allow", "Disallow"), fc.array(piece, { minLength: 1, maxLength: 6 }))
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 6 }), path, (rules, asked) => {
        const text = ["User-agent: X", ...rules.map(([kind, pieces]) => `${kind}: /${pieces.join("")}`)].join("\n")
        const url = new URL(`https://shop.com${asked}`)
        const theirs = parser("https://shop.com/robots.txt", text).isAllowed(url.href, "X")
        assert.strictEqual(robotsAllows(readRobots(text), "X", url.pathname + url.search), theirs ?? true, text)
      }),
      { numRuns: 2000 }
    )
  })

  it.each([
    ["of names and rules without end", `${"user-agent: a\n".repeat(20_000)}${"allow: /\n".repeat(30_000)}`],
    ["of wildcards", `user-agent: *\n${`disallow: /${"*a".repeat(400)}b\n`.repeat(700)}`],
    ["of near matches", `user-agent: *\n${`disallow: /*${"a".repeat(500)}b\n`.repeat(1000)}`],
    ["of one line", `user-agent: *\ndisallow: /${"a".repeat(3_000_000)}`]
  ])("%s is judged in no time", (_, text) => {
    const before = cpuTime()
    assert.isTrue(robotsAllows(readRobots(text), "a", `/${"a".repeat(4000)}`))
    assert.isBelow(cpuTime() - before, 1000)
  })

  it("with a rule in each line is judged for each page of a shop in no time", () => {
    const robots = readRobots(
      `user-agent: *\n${Array.from({ length: 40_000 }, (_, line) => `allow:/${line % 9}`).join("\n")}`
    )
    const before = cpuTime()
    for (let page = 0; page < 300; page++) assert.isTrue(robotsAllows(robots, "a", `/p/${page}`))
    assert.isBelow(cpuTime() - before, 1500)
  })

  it("is read up to a length, with bounded lists", () => {
    const robots = readRobots(
      `${"Sitemap: /s.xml\n".repeat(500)}${"Content-Signal: search=yes\n".repeat(20_000)}User-agent: *\nDisallow: /`
    )
    assert.deepStrictEqual([robots.sitemaps.length, robots.lines.length, robots.groups.length], [100, 200, 0])
  })
})
