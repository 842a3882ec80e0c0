const credential = /\b(pk|psk|pp|agent|sess|portal|refresh|whsec)_[A-Za-z0-9+/=_-]{8,}/g
// Payments are in standard base64, whose other letters are none of a token's.
const accessToken = /\beyJ[\w+/=-]{5,}(?:\.[\w-]*){0,2}/g
const named =
  /((?:authorization|x-payment-proof|payment-signature|x-payment|sign-in-with-x|cookie)["']?\s*[:=]\s*["']?)[^"',}\r\n]+/gi
// Whoever has the address of a report may read it.
const signed = /\bsignature=[\w-]{20,}/g

/** The text without anything that opens a door: credentials keep their kind, secret headers only their name. */
export const redact = (text: string): string =>
  text
    .replace(named, "$1[redacted]")
    .replace(credential, "$1_[redacted]")
    .replace(accessToken, "eyJ[redacted]")
    .replace(signed, "signature=[redacted]")
