/** Whoever asks whether we are a program, by its marks in the answer. */
export interface Challenge {
  readonly vendor: string
  readonly marker: string
}

/** An answer as far as a wall shows in it. Header names are in lower case. */
interface Seen {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  /** The beginning of the body; walls are short. */
  readonly text: string
  /** A page as long as a shop's own is not a wall, whatever it mentions. */
  readonly isShort: boolean
}

/** Statuses under which vendors keep programs out. */
const refusing = new Set([401, 403, 405, 406, 429, 503])

const header = (seen: Seen, name: string, value: RegExp) => {
  const found = seen.headers.get(name)
  return found !== undefined && value.test(found) ? `${name}: ${found.slice(0, 100)}` : undefined
}
const body = (seen: Seen, mark: RegExp) => mark.exec(seen.text)?.[0].slice(0, 100)

interface Wall {
  readonly vendor: string
  readonly marker: (seen: Seen) => string | undefined
}

const refused = (seen: Seen, marker: string | undefined) => (refusing.has(seen.status) ? marker : undefined)
/** A wall that answers 200 or 202 has nothing else on its page. */
const standsAlone = (seen: Seen, marker: string | undefined) =>
  refusing.has(seen.status) || seen.isShort ? marker : undefined

/**
 * What each vendor's wall shows when it is up. The mere presence of a vendor (its cookies, its sensor script) is not here: most shops
 * behind one let us in.
 */
const walls: ReadonlyArray<Wall> = [
  {
    vendor: "cloudflare",
    marker: (seen) =>
      header(seen, "cf-mitigated", /^challenge$/i) ??
      refused(
        seen,
        body(
          seen,
          /\/cdn-cgi\/challenge-platform(?!\/(?:h\/\w\/)?scripts\/)|<title>Just a moment\.\.\.|cf-browser-verification/i
        )
      ) ??
      (seen.headers.has("cf-ray")
        ? refused(seen, body(seen, /Sorry, you have been blocked|<title>Attention Required! \| Cloudflare/i))
        : undefined)
  },
  {
    vendor: "siteground",
    marker: (seen) =>
      header(seen, "sg-captcha", /challenge/i) ?? standsAlone(seen, body(seen, /\/\.well-known\/sgcaptcha\//i))
  },
  {
    vendor: "datadome",
    marker: (seen) => refused(seen, body(seen, /captcha-delivery\.com/i) ?? header(seen, "x-dd-b", /./))
  },
  {
    vendor: "human",
    marker: (seen) =>
      standsAlone(
        seen,
        body(seen, /id=["']?px-captcha|captcha\.px-cdn\.net|captcha\.px-cloud\.net|window\._pxAppId[^<]{0,400}captcha/i)
      )
  },
  {
    vendor: "akamai",
    marker: (seen) =>
      refused(
        seen,
        body(seen, /<TITLE>Access Denied<\/TITLE>[\s\S]{0,1500}?Reference(?:\s|&#32;)*(?:#|&#35;|&#x23;)/i)
      ) ?? standsAlone(seen, body(seen, /sec-if-cpt-container|\/_sec\/cp_challenge\//i))
  },
  {
    vendor: "imperva",
    // Its sensor, `SWJIYLWA`, is in pages that it lets through, too: it is a wall only where nothing else is.
    marker: (seen) =>
      standsAlone(seen, body(seen, /_Incapsula_Resource(?!\?SWJIYLWA)|Incapsula incident ID/i)) ??
      (seen.text.length < 1_500 && !/<(?:h1|p|a|form)\b/i.test(seen.text)
        ? body(seen, /_Incapsula_Resource\?SWJIYLWA/i)
        : undefined)
  },
  {
    vendor: "aws-waf",
    marker: (seen) =>
      header(seen, "x-amzn-waf-action", /^(?:challenge|captcha)$/i) ??
      (seen.status === 202 || seen.status === 405
        ? body(seen, /awswaf\.com\/[^"'\s]{1,200}\/(?:challenge|captcha)\.js|AwsWafIntegration/i)
        : undefined)
  },
  {
    vendor: "kasada",
    marker: (seen) => refused(seen, body(seen, /ips\.js\?[^"'\s]{0,200}|KPSDK/i) ?? header(seen, "x-kpsdk-ct", /./))
  },
  {
    vendor: "sucuri",
    marker: (seen) => refused(seen, body(seen, /<title>Sucuri WebSite Firewall - Access Denied/i))
  },
  {
    vendor: "captcha",
    // A page that refuses and shows nothing but the widget.
    marker: (seen) =>
      seen.isShort
        ? refused(
            seen,
            body(seen, /class=["'][^"']*\b(?:g-recaptcha|h-captcha|cf-turnstile)\b|client-api\.arkoselabs\.com/i)
          )
        : undefined
  }
]

/** How much of a body is read for marks, and from which length on it is a page of its own. */
export const challengeLength = 65_536
const pageLength = 20_000

/** The wall that this answer is, if it is one. `text` is the beginning of a body of `length`. */
export const challengeOf = (
  status: number,
  headers: ReadonlyMap<string, string>,
  text: string,
  length: number = text.length
): Challenge | undefined => {
  const seen = { status, headers, text: text.slice(0, challengeLength), isShort: length < pageLength }
  for (const { marker, vendor } of walls) {
    const found = marker(seen)
    if (found !== undefined) return { vendor, marker: found }
  }
  return undefined
}
