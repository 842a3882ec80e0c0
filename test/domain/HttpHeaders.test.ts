import { assert, describe, it } from "vitest"
import { refreshCookie } from "#domain/Cookies.ts"
import { headersForCaller, headersForOrigin, refusedOverride, withoutCacheOrders } from "#domain/HttpHeaders.ts"
import { cpuTime } from "./CpuTime.ts"

const each = (names: ReadonlyArray<string>) => names.flatMap((name) => [name, "v"])

describe("what an origin sees of a caller's headers", () => {
  const via = ["Via", "1.1 turnpike"]
  /** Without our own name, which ends each request. */
  const seen = (raw: ReadonlyArray<string>, added: ReadonlyArray<string>) => {
    const all = headersForOrigin(raw, added)
    assert.deepStrictEqual(all.splice(-2), via)
    return all
  }

  it("leaves out what is for one hop only, including what Connection names", () => {
    const raw = [
      "Connection",
      "X-Secret, x_two, close",
      "x-secret",
      "1",
      "Keep-Alive",
      "timeout=5",
      "TE",
      "trailers",
      "Content-Length",
      "3"
    ]
    const more = [
      ...["Trailer", "X-Sum", "Upgrade", "h2c", "HTTP2-Settings", "x", "Proxy-Connection", "keep-alive"],
      ...["Proxy-Authorization", "x", "Transfer-Encoding", "chunked", "X_Two", "2", "Accept", "*/*"]
    ]
    assert.deepStrictEqual(seen([...raw, ...more], []), ["Accept", "*/*"])
    assert.deepStrictEqual(seen(["Connection", "x-secret", "X_Secret", "1"], []), [])
  })

  it("has whatever no Connection names, in fields as long as that and as others", () => {
    const raw = ["User-Agent", "accept", "Accept", "*/*", "X-Token-Secret", "1"]
    assert.deepStrictEqual(seen(raw, ["X-Gateway-Auth", "2"]), [...raw, "X-Gateway-Auth", "2"])
  })

  it("leaves out every payment header", () => {
    const names = [
      "Payment-Signature",
      "X-PAYMENT",
      "X-Payment-Proof",
      "payment-required",
      "PAYMENT-RESPONSE",
      "X-Payment-Response"
    ]
    const more = ["Payment-Receipt", "Sign-In-With-X", "X-Payment-Anything", "Payment-Authorization"]
    assert.deepStrictEqual(seen(each([...names, ...more]), []), [])
  })

  it("leaves out what an origin could read as one of ours: what is no letter or digit is a dash", () => {
    const raw = ["X_Payment_Payer", "wal_1", "x_forwarded_for", "9.9.9.9", "X_Gateway-Key", "guess", "X_Own", "kept"]
    assert.deepStrictEqual(seen(raw, ["X-Gateway-Key", "known"]), ["X_Own", "kept", "X-Gateway-Key", "known"])
    const dotted = each(["X.Payment.Payer", "X!Payment~Payer", "X.Forwarded.For", "x.gateway.key"])
    assert.deepStrictEqual(seen([...dotted, "X.Own", "kept"], ["X-Gateway-Key", "k"]).slice(0, 3), [
      "X.Own",
      "kept",
      "X-Gateway-Key"
    ])
  })

  it("leaves out whom proxies say that they were called by: an origin that believes us would believe the caller", () => {
    const names = [
      "True-Client-IP",
      "CF-Connecting-IP",
      "X-Client-IP",
      "X-Original-Forwarded-For",
      "X_Original_Host",
      "Fastly-Client-IP",
      "X-Cluster-Client-IP",
      "X-Host"
    ]
    assert.deepStrictEqual(seen(each(names), []), [])
  })

  it("has the owner's fields in place of the caller's, however either spells a dash", () => {
    const raw = ["X_Api_Key", "guess", "x-api-key", "guess", "x_api-key", "guess"]
    for (const name of ["X_Api_Key", "x-api-key", "X-Api_Key"]) {
      assert.deepStrictEqual(seen(raw, [name, "known"]), [name, "known"])
    }
  })

  it("leaves out what would be read in place of the method and the address that were paid for", () => {
    const names = ["X-HTTP-Method-Override", "x_http_method", "X-Method-Override", "X-Original-URL", "X-Rewrite-Url"]
    const raw = [...names, "X_Original_URI"].flatMap((name) => [name, "DELETE"])
    assert.deepStrictEqual(seen([...raw, "X-HTTP-Methods", "all"], []), ["X-HTTP-Methods", "all"])
  })

  it("leaves out our credentials and keeps the origin's own", () => {
    for (const value of [
      "Bearer pk_test_abc",
      "Bearer pk_live_abc",
      "Bearer PORTAL_live_abc",
      "bearer agent_live_x",
      "Bearer  sess_1",
      "Payment id=1",
      "payment",
      "psk_test_1"
    ]) {
      assert.deepStrictEqual(seen(["Authorization", value], []), [], value)
    }
    for (const value of ["Bearer theirs", "Basic dXNlcjpwYXNz", "Digest username=x"]) {
      assert.deepStrictEqual(seen(["Authorization", value], []), ["Authorization", value])
    }
    assert.deepStrictEqual(seen(["X-Topic", "payment"], []), ["X-Topic", "payment"])
  })

  it("leaves out the access tokens of our users and keeps the origin's", () => {
    const jwt = (claims: object) =>
      ["header", claims, ""].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")
    const ours = `eyJ${jwt({ sub: "usr_1", ten: `ten_${"0".repeat(26)}`, exp: 1 })}`
    for (const value of [`Bearer ${ours}`, `bearer  ${ours}`, ours]) {
      assert.deepStrictEqual(seen(["Authorization", value], []), [], value)
    }
    for (const claims of [{ sub: "usr_1" }, { ten: "acme" }]) {
      const theirs = `Bearer eyJ${jwt(claims)}`
      assert.deepStrictEqual(seen(["Authorization", theirs], []), ["Authorization", theirs])
    }
  })

  it("leaves out our cookies only", () => {
    const mixed = `a=1; ${refreshCookie}=x;b=2; turnpike_refresh=x`
    assert.deepStrictEqual(seen(["Cookie", mixed], []), ["Cookie", "a=1;b=2"])
    assert.deepStrictEqual(seen(["Cookie", `${refreshCookie}=x`, "Cookie", "__Host-turnpike-session=x"], []), [])
    for (const theirs of ["a=1;  b=2;", ""]) assert.deepStrictEqual(seen(["Cookie", theirs], []), ["Cookie", theirs])
  })

  it("lets nobody speak for us: spoofed fields are replaced by ours or dropped", () => {
    const raw = [
      "X-Forwarded-For",
      "6.6.6.6",
      "Forwarded",
      "for=6.6.6.6",
      "X-Real-IP",
      "6.6.6.6",
      "X-Service-Name",
      "x"
    ]
    const added = ["X-Forwarded-For", "1.2.3.4", "X-Request-Id", "req_1"]
    assert.deepStrictEqual(
      seen([...raw, "x-request-id", "mine", "Host", "evil", "Expect", "100-continue"], added),
      added
    )
  })

  it("keeps the case, order and repetition of everything else", () => {
    const raw = ["Accept", "a", "X-Thing", "1", "accept", "b", "X-Payments-Team", "core"]
    assert.deepStrictEqual(seen(raw, []), raw)
  })

  it("names us after those that the request came through, whatever the caller or the owner says", () => {
    const raw = ["Via", "1.0 fred", "Connection", "via"]
    assert.deepStrictEqual(headersForOrigin(["Via", "1.0 fred"], []), ["Via", "1.0 fred", ...via])
    assert.deepStrictEqual(headersForOrigin(raw, ["Via", "1.1 owner"]), ["Via", "1.1 owner", ...via])
  })
})

describe("what a caller sees of an origin's headers", () => {
  it("leaves out one-hop fields, our payment and service fields, and what would bind our whole host", () => {
    const raw = [
      "Connection",
      "X-Hop",
      "X-Hop",
      "1",
      "Transfer-Encoding",
      "chunked",
      ...each(["Proxy-Authenticate", "Proxy-Authentication-Info"]),
      "PAYMENT-RESPONSE",
      "forged",
      "X-Payment-Id",
      "forged"
    ]
    const more = [
      "X-Service-Signature",
      "forged",
      "Strict-Transport-Security",
      "max-age=1",
      "Alt-Svc",
      "h3",
      "Clear-Site-Data",
      "*"
    ]
    const kept = ["Set-Cookie", "a=1", "Set-Cookie", "b=2", "Location", "http://10.0.0.1/", "Content-Length", "3"]
    assert.deepStrictEqual(headersForCaller([...raw, ...more, ...kept]), kept)
  })

  it("leaves out what one seller would say to browsers for all of them", () => {
    // A session bound to the device would have the browser ask an address of the seller's before each request to our host.
    const names = `Accept-CH NEL Origin-Agent-Cluster Public-Key-Pins Report-To Reporting-Endpoints Service-Worker-Allowed Use-As-Dictionary
      Secure-Session-Registration Secure-Session-Challenge Sec-Session-Registration Set-Login Shared-Storage-Write
      Attribution-Reporting-Register-Source`
    const fields = names.split(/\s+/).map((name) => [name, "v"])
    assert.deepStrictEqual(
      fields.filter((field) => headersForCaller(field).length > 0),
      []
    )
  })

  it("leaves out cookies that would be a credential of ours", () => {
    const raw = [`${refreshCookie}=x; Path=/v1/sessions`, `=${refreshCookie}=x`, ` REFRESH_TOKEN =x`, "turnpike_a=x"]
    const fields = [...raw, "a=1"].flatMap((value) => ["Set-Cookie", value])
    assert.deepStrictEqual(headersForCaller(["Set-Cookie2", "a=1", ...fields]), ["Set-Cookie", "a=1"])
  })

  it("has each cookie bound to the endpoint, when there is one", () => {
    const raw = [
      "A",
      "set-cookie",
      "Set-Cookie",
      "a=1; Path=/",
      "SET-COOKIE",
      "b=2",
      "Set-Cookie",
      "__Host-c=3; Path=/"
    ]
    const place = { gatewayUrl: "https://pay.example/x402/e", target: "/x402/e/login" }
    assert.deepStrictEqual(headersForCaller(raw, place), [
      ...["A", "set-cookie", "Set-Cookie", "a=1; Path=/x402/e", "SET-COOKIE", "b=2; Path=/x402/e"]
    ])
    assert.deepStrictEqual(headersForCaller(raw), raw)
  })

  it("leaves out orders to the proxies in front of us, but for the one that nothing waits in them", () => {
    const orders = [
      ...["X-Accel-Redirect", "x-accel-expires", "X-Accel-Charset", "X-Accel-Limit-Rate", "X-Sendfile"],
      ...[
        "X-LIGHTTPD-send-file",
        "X-Lighttpd-Send-Tempfile",
        "X-LiteSpeed-Location",
        "X-Reproxy-URL",
        "X-Archive-Files"
      ],
      ...["X-Envoy-Immediate-Health-Check-Fail", "Surrogate-Control", "Edge-Control"]
    ].flatMap((name) => [name, "v"])
    const kept = ["X-Accel-Buffering", "no", "X-Send", "1", "X-Acceleration", "2"]
    assert.deepStrictEqual(headersForCaller([...orders, ...kept]), kept)
  })

  it("has no orders for single caches once they are taken out", () => {
    const orders = [
      ...["CDN-Cache-Control", "Vercel-CDN-Cache-Control", "Akamai-Cache-Control", "Expires", "Pragma"]
    ].flatMap((name) => [name, "v"])
    const kept = ["Cache-Control", "private", "Age", "1"]
    assert.deepStrictEqual(withoutCacheOrders([...orders, ...kept]), kept)
    assert.strictEqual(withoutCacheOrders(kept), kept)
  })

  it("leaves out challenges to pay, which are not ours, and keeps the others", () => {
    const seen = (value: string) => headersForCaller(["WWW-Authenticate", value])
    assert.deepStrictEqual(seen('Payment id="1", realm="a, b", method="evm"'), [])
    assert.deepStrictEqual(seen('Basic realm="Payment, please", PAYMENT id="1", intent="charge", Bearer'), [
      "WWW-Authenticate",
      'Basic realm="Payment, please", Bearer'
    ])
    assert.deepStrictEqual(seen('Bearer realm="a",  error="b"'), ["WWW-Authenticate", 'Bearer realm="a",  error="b"'])
  })

  it("leaves out a challenge that ends within a quote, in which any reader may see one to pay", () => {
    const seen = (value: string) => headersForCaller(["WWW-Authenticate", value])
    assert.deepStrictEqual(seen('Bearer, Basic realm="a, Payment id="1"'), ["WWW-Authenticate", "Bearer"])
    assert.deepStrictEqual(seen('Basic realm="a, Payment id=1'), [])
    assert.deepStrictEqual(seen('Basic realm="\\", Payment id=1\\'), [])
  })

  it.each([
    ["a challenge of open quotes", "WWW-Authenticate", `payment ${'"a\\'.repeat(10_800)}`],
    ["a challenge of escapes", "WWW-Authenticate", `payment ${'"\\'.repeat(16_000)}`],
    ["a cookie with an attribute of blanks", "Set-Cookie", `a=1;${"\t".repeat(32_000)}x`]
  ])("is read in no time: %s", (_, name, value) => {
    const before = cpuTime()
    headersForCaller([name, value], { gatewayUrl: "https://pay.example/x402/a", target: "/x402/a" })
    assert.isBelow(cpuTime() - before, 250)
  })

  it("keeps the length even if Connection names it", () => {
    assert.deepStrictEqual(headersForCaller(["Connection", "content-length", "Content-Length", "3"]), [
      "Content-Length",
      "3"
    ])
  })
})

describe("a method that a header asks for", () => {
  const getOnly = (method: string) => method === "GET"

  it("is refused unless it is served, whoever else names one that is", () => {
    assert.strictEqual(refusedOverride({ "x-http-method-override": "delete" }, getOnly), "DELETE")
    assert.strictEqual(refusedOverride({ "x-http-method": "GET", "x-method-override": "PUT" }, getOnly), "PUT")
    assert.strictEqual(refusedOverride({ "x-http-method-override": "GET, DELETE" }, getOnly), "GET, DELETE")
    assert.isUndefined(refusedOverride({ "x-http-method-override": " get " }, getOnly))
    assert.isUndefined(refusedOverride({ accept: "*/*" }, getOnly))
  })
})
