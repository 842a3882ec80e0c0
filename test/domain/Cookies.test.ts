import { assert, describe, it } from "vitest"
import { boundCookie, isOurCookie, refreshCookie, withoutOurCookies } from "#domain/Cookies.ts"

describe("a cookie of ours", () => {
  it("is the one of a user's session, and what is reserved, however it is spelled", () => {
    for (const pair of [
      `${refreshCookie}=x`,
      `\t ${refreshCookie} =x`,
      "Refresh_Token=x",
      refreshCookie,
      "turnpike_session=x",
      "__host-Turnpike-session=x",
      // Browsers send the value of a cookie without a name alone.
      `=${refreshCookie}=x`,
      ` = ${refreshCookie}=x`
    ]) {
      assert.isTrue(isOurCookie(pair), pair)
    }
    for (const pair of ["refresh_tokens=x", "my_refresh_token=x", `a=${refreshCookie}`, "__Secure-theirs=x", "", "a"]) {
      assert.isFalse(isOurCookie(pair), pair)
    }
  })

  it("is taken out of those that are shown, and the others stay as they were", () => {
    assert.strictEqual(withoutOurCookies(`a=1; ${refreshCookie}=x;b=2`), "a=1;b=2")
    assert.strictEqual(withoutOurCookies(`${refreshCookie}=x`), "")
    assert.strictEqual(withoutOurCookies("a=1;  b=2;"), "a=1;  b=2;")
  })
})

describe("a cookie that an origin sets", () => {
  const id = "01927f2e-8f6d-7c3b-9a51-2f0c9d3b7e10"
  const gatewayUrl = `https://pay.example/x402/${id}`
  const place = { gatewayUrl, target: `/x402/${id}/login?a=1` }
  const set = (value: string) => boundCookie(value, place)

  it("belongs to the endpoint alone, and keeps everything else to the letter", () => {
    assert.strictEqual(set("a=1"), `a=1; Path=/x402/${id}`)
    assert.strictEqual(set("a=1;"), `a=1; Path=/x402/${id}`)
    assert.strictEqual(
      set(
        "a=b=c ; path = /login;HttpOnly; DOMAIN=.pay.example; SameSite=lax;Expires=Thu, 01 Jan 2099 00:00:00 GMT;path"
      ),
      `a=b=c ;HttpOnly; SameSite=lax;Expires=Thu, 01 Jan 2099 00:00:00 GMT; Path=/x402/${id}`
    )
    assert.strictEqual(set("path=/; Domains=x"), `path=/; Domains=x; Path=/x402/${id}`)
  })

  it("that must be the whole host's is left out", () => {
    for (const value of ["__Host-a=1; Secure; Path=/", "__HOST-a=1", " =__Host-a=1", "__Host-Http-a=1"]) {
      assert.isUndefined(set(value), value)
    }
    assert.strictEqual(set("__Secure-a=1; Secure"), `__Secure-a=1; Secure; Path=/x402/${id}`)
  })

  it("comes back to the address it was set at: below ours, with the id as its caller spelled it", () => {
    const at = (target: string) => boundCookie("a=1", { gatewayUrl: `https://pay.example/toll/x402/${id}`, target })
    assert.strictEqual(at(`/x402/${id}`), `a=1; Path=/toll/x402/${id}`)
    const typed = "epd_01j9zjx3vde1xslmhf1jesytgg"
    assert.strictEqual(at(`/x402/${typed}/b`), `a=1; Path=/toll/x402/${typed}`)
    assert.strictEqual(at("/v1/scanner/scans"), `a=1; Path=/toll/x402/${id}`)
  })
})
