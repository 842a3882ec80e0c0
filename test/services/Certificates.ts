import { createHash, createSign, generateKeyPairSync, type KeyObject } from "node:crypto"

const length = (size: number): Buffer =>
  size < 128 ? Buffer.from([size]) : size < 256 ? Buffer.from([0x81, size]) : Buffer.from([0x82, size >> 8, size & 255])
const der = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag]), length(content.length), content])
}
const sequence = (...parts: ReadonlyArray<Uint8Array>) => der(0x30, ...parts)
const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"))
const text = (tag: number, value: string) => der(tag, Buffer.from(value))
const time = (at: Date) => text(0x18, `${at.toISOString().replace(/[-:T]|\.\d+/g, "")}`)

const commonName = (name: string) => sequence(der(0x31, sequence(oid("550403"), text(0x0c, name))))
const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"))
const isAuthority = sequence(
  oid("551d13"),
  der(0x01, Buffer.from([255])),
  der(0x04, sequence(der(0x01, Buffer.from([255]))))
)
const forHost = (host: string) => sequence(oid("551d11"), der(0x04, sequence(text(0x82, host))))
const forClients = sequence(oid("551d25"), der(0x04, sequence(oid("2b06010505070302"))))

interface Signer {
  readonly name: string
  readonly key: KeyObject
}

const certificate = (
  subject: { readonly name: string; readonly key: KeyObject },
  { key, name }: Signer,
  { from, until }: { readonly from: Date; readonly until: Date },
  ...extensions: ReadonlyArray<Buffer>
): string => {
  const spki = subject.key.export({ type: "spki", format: "der" })
  const serial = createHash("sha256").update(subject.name).update(spki).digest().subarray(0, 8)
  serial[0] = 1
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ecdsaWithSha256,
    commonName(name),
    sequence(time(from), time(until)),
    commonName(subject.name),
    spki,
    der(0xa3, sequence(...extensions))
  )
  const signature = createSign("sha256").update(body).sign(key)
  const whole = sequence(body, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature))
  return `-----BEGIN CERTIFICATE-----\n${(whole.toString("base64").match(/.{1,64}/g) ?? []).join("\n")}\n-----END CERTIFICATE-----\n`
}

const pair = () => generateKeyPairSync("ec", { namedCurve: "P-256" })
const day = 86_400_000

/** An authority made for a test, and what it certifies: for one host, from so many days before now to so many after. */
export const authority = (now: number) => {
  const own = pair()
  const days = (before: number, after: number) => ({
    from: new Date(now - before * day),
    until: new Date(now + after * day)
  })
  const signer = { name: "An authority", key: own.privateKey }
  const cert = certificate({ name: signer.name, key: own.publicKey }, signer, days(100, 100), isAuthority)
  return {
    cert,
    /** `isClient`: it proves who calls, and no server. */
    certify: (host: string, before: number, after: number, isClient = false) => {
      const { privateKey, publicKey } = pair()
      const use = isClient ? [forClients] : []
      return {
        key: privateKey.export({ type: "pkcs8", format: "pem" }),
        cert: certificate({ name: host, key: publicKey }, signer, days(before, after), forHost(host), ...use)
      }
    }
  }
}
