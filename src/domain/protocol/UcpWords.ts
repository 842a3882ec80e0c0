// What is said over UCP, whatever its transport and release: orders in, checkouts and products out. Amounts come in minor units.
import type { OrderTaken } from "../OrderTaken.ts"
import { asFields, type Fields } from "./X402Payload.ts"

export interface UcpMessage {
  readonly type: string
  readonly code: string
  readonly severity: string | null
  readonly text: string
}
export interface UcpLine {
  readonly itemId: string
  readonly title: string | null
  readonly quantity: number
  /** Of one, as a decimal string. */
  readonly price: string | null
}
/** One way of delivery that a checkout offers; its ids are what choosing it takes. */
export interface UcpDelivery {
  readonly method: string
  readonly group: string
  readonly id: string
  readonly title: string | null
  readonly amount: string | null
}
/** A cart or a checkout as the shop states it. Prices are decimal strings. */
export interface UcpCheckout {
  readonly id: string
  /** Empty for a cart. */
  readonly status: string
  readonly currency: string | null
  readonly lines: ReadonlyArray<UcpLine>
  readonly totals: ReadonlyArray<{ readonly type: string; readonly amount: string }>
  readonly total: string | null
  readonly deliveries: ReadonlyArray<UcpDelivery>
  readonly paymentHandlers: ReadonlyArray<string>
  readonly continueUrl: string | null
  /** By what the shop calls the order that it made of it; null before there is one. */
  readonly order: string | null
  readonly messages: ReadonlyArray<UcpMessage>
}
export interface UcpVariant {
  readonly id: string
  readonly sku: string | null
  readonly title: string | null
  readonly price: string | null
  readonly currency: string | null
  readonly available: boolean
}
export interface UcpProduct {
  readonly id: string
  readonly title: string
  readonly url: string | null
  readonly variants: ReadonlyArray<UcpVariant>
}

/** What is to be bought, by whom, and where it goes. */
export interface UcpOrder {
  readonly lines: ReadonlyArray<{ readonly itemId: string; readonly quantity: number }>
  readonly currency?: string | undefined
  readonly buyer?: { readonly email: string; readonly first_name: string; readonly last_name: string } | undefined
  readonly address?: Readonly<Record<string, string>> | undefined
  readonly delivery?: UcpDelivery | undefined
}

const maxEntries = 100
const listOf = (value: unknown): ReadonlyArray<Fields> => {
  const entries: ReadonlyArray<unknown> = Array.isArray(value) ? value.slice(0, maxEntries) : []
  return entries.map(asFields).filter((entry) => entry !== undefined)
}
const textOf = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value.slice(0, 500) : null

/** Digits after the dot of a currency: two, unless it is known to have others. */
const exponentOf = (currency: string | null): number => {
  if (currency === null || !/^[A-Z]{3}$/.test(currency)) return 2
  return new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits ?? 2
}

/** Minor units as a decimal string; null when it is no whole number. */
export const decimalOf = (minor: unknown, currency: string | null): string | null => {
  if (typeof minor !== "number" || !Number.isSafeInteger(minor)) return null
  const exponent = exponentOf(currency)
  const digits = String(Math.abs(minor)).padStart(exponent + 1, "0")
  const whole = digits.slice(0, digits.length - exponent)
  return `${minor < 0 ? "-" : ""}${whole}${exponent === 0 ? "" : `.${digits.slice(-exponent)}`}`
}

export const messagesOf = (said: Fields): ReadonlyArray<UcpMessage> =>
  listOf(said["messages"]).map((message) => ({
    type: textOf(message["type"]) ?? "",
    code: textOf(message["code"]) ?? "",
    severity: textOf(message["severity"]),
    text: textOf(message["content"]) ?? textOf(message["message"]) ?? ""
  }))

/** Whether it is an answer of UCP at all: every one carries the protocol's own member. */
export const isUcpAnswer = (said: Fields | undefined): said is Fields => asFields(said?.["ucp"]) !== undefined

const handlersOf = (said: Fields): ReadonlyArray<string> => {
  const current = asFields(asFields(said["ucp"])?.["payment_handlers"])
  if (current !== undefined) return Object.keys(current).slice(0, maxEntries)
  // The first release had them beside.
  return listOf(asFields(said["payment"])?.["handlers"]).flatMap(({ name }) => textOf(name) ?? [])
}

const totalIn = (totals: unknown, currency: string | null): string | null =>
  listOf(totals)
    .filter(({ type }) => type === "total")
    .map(({ amount }) => decimalOf(amount, currency))[0] ?? null

const deliveriesOf = (said: Fields, currency: string | null): ReadonlyArray<UcpDelivery> =>
  listOf(asFields(said["fulfillment"])?.["methods"]).flatMap((method) =>
    listOf(method["groups"]).flatMap((group) =>
      listOf(group["options"]).flatMap((option) => {
        const id = textOf(option["id"])
        if (id === null) return []
        const amount = totalIn(option["totals"], currency)
        const ids = { method: textOf(method["id"]) ?? "", group: textOf(group["id"]) ?? "" }
        return [{ ...ids, id, title: textOf(option["title"]), amount }]
      })
    )
  )

/** A cart or checkout; undefined when it is none. */
export const readCheckout = (said: Fields): UcpCheckout | undefined => {
  const id = textOf(said["id"])
  if (id === null) return undefined
  const currency = textOf(said["currency"])
  const totals = listOf(said["totals"]).flatMap(({ amount, type }) => {
    const decimal = decimalOf(amount, currency)
    return decimal === null ? [] : [{ type: textOf(type) ?? "", amount: decimal }]
  })
  return {
    id,
    status: textOf(said["status"]) ?? "",
    currency,
    lines: listOf(said["line_items"]).map((line) => {
      const item = asFields(line["item"]) ?? {}
      const quantity = line["quantity"]
      return {
        itemId: textOf(item["id"]) ?? "",
        title: textOf(item["title"]),
        quantity: typeof quantity === "number" ? quantity : 0,
        price: decimalOf(item["price"], currency)
      }
    }),
    totals,
    total: totalIn(said["totals"], currency),
    deliveries: deliveriesOf(said, currency),
    paymentHandlers: handlersOf(said),
    continueUrl: textOf(said["continue_url"]),
    // The first release had the name beside.
    order: textOf(asFields(said["order"])?.["id"]) ?? textOf(said["order_id"]),
    messages: messagesOf(said)
  }
}

/** That a shop made an order of a checkout, or is about to, although nobody completed it. */
export const orderTakenIn = ({ order, status }: UcpCheckout): OrderTaken | undefined =>
  order !== null || status === "completed" || status === "complete_in_progress"
    ? { said: `The checkout's status is ${status === "" ? "not said" : status}.`, reference: order ?? undefined }
    : undefined

const readVariant = (variant: Fields): ReadonlyArray<UcpVariant> => {
  const id = textOf(variant["id"])
  if (id === null) return []
  const price = asFields(variant["price"])
  const currency = textOf(price?.["currency"])
  const available = asFields(variant["availability"])?.["available"] !== false
  const words = { sku: textOf(variant["sku"]), title: textOf(variant["title"]) }
  return [{ id, ...words, price: decimalOf(price?.["amount"], currency), currency, available }]
}

/** The products of a catalogue search; undefined when there is no such list. */
export const readProducts = (said: Fields): ReadonlyArray<UcpProduct> | undefined => {
  if (!Array.isArray(said["products"])) return undefined
  return listOf(said["products"]).flatMap((product) => {
    const [id, title] = [textOf(product["id"]), textOf(product["title"])]
    if (id === null || title === null) return []
    return [{ id, title, url: textOf(product["url"]), variants: listOf(product["variants"]).flatMap(readVariant) }]
  })
}

/** An order as the body of a cart or checkout. */
export const orderBody = ({ address, buyer, currency, delivery, lines }: UcpOrder): Fields => ({
  line_items: lines.map(({ itemId, quantity }) => ({ item: { id: itemId }, quantity })),
  ...(currency === undefined ? {} : { currency }),
  ...(buyer === undefined ? {} : { buyer }),
  ...(address === undefined ? {} : { fulfillment: { methods: [shipping(address, delivery)] } })
})

const shipping = (address: Readonly<Record<string, string>>, delivery: UcpDelivery | undefined): Fields => ({
  ...(delivery === undefined || delivery.method === "" ? {} : { id: delivery.method }),
  type: "shipping",
  destinations: [address],
  ...(delivery === undefined ? {} : { groups: [{ id: delivery.group, selected_option_id: delivery.id }] })
})

/** Whether the names and arguments of its tools are those of the first release. */
export const isFirstRelease = (version: string): boolean => version < "2026-01-23"

/** Arguments of a tool, with who asks. */
export const toolArguments = (
  version: string,
  meta: { readonly profile: string; readonly key?: string },
  body: Fields
) =>
  isFirstRelease(version)
    ? {
        _meta: { ucp: { profile: meta.profile } },
        ...(meta.key === undefined ? {} : { idempotency_key: meta.key }),
        // What later releases put under a name of its own stood beside.
        ...Object.fromEntries(
          Object.entries(body).flatMap(([name, value]) => Object.entries(asFields(value) ?? { [name]: value }))
        )
      }
    : {
        meta: {
          "ucp-agent": { profile: meta.profile },
          ...(meta.key === undefined ? {} : { "idempotency-key": meta.key })
        },
        ...body
      }
