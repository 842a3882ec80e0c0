import type { Profile } from "./UcpProfiles.ts"

const prices: Readonly<Record<string, { readonly title: string; readonly price: number }>> = {
  rose: { title: "Red rose", price: 1999 },
  tulip: { title: "Yellow tulip", price: 500 }
}
const delivery = { id: "standard", title: "Standard shipping", price: 450 }

/** What a shop keeps. `orders` counts what was bought for good: agents that only test leave it at nothing. */
export interface Selling {
  readonly orders: () => number
  /** Carts and checkouts that are neither cancelled nor completed. */
  readonly open: () => number
  /** Carries out an operation by the name of its tool. */
  do(operation: string, id: string | undefined, body: Profile): Profile
}

const refused = (code: string, content: string) => ({
  ucp: { status: "error" },
  messages: [{ type: "error", code, content, severity: "unrecoverable" }]
})

const sum = (lines: ReadonlyArray<Profile>): number =>
  lines.reduce((total, { item, quantity }) => total + item.price * quantity, 0)

const linesOf = (body: Profile): ReadonlyArray<Profile> | undefined => {
  const lines = (body.line_items ?? []).map((line: Profile, at: number) => {
    const known = prices[line.item?.id]
    return known && { id: `li_${at + 1}`, item: { id: line.item.id, ...known }, quantity: line.quantity }
  })
  return lines.length === 0 || lines.includes(undefined) ? undefined : lines
}

const fulfillmentOf = (body: Profile) => {
  const [method] = body.fulfillment?.methods ?? []
  if (method?.destinations?.[0]?.postal_code === undefined) return undefined
  const selected = method.groups?.[0]?.selected_option_id ?? null
  const option = { id: delivery.id, title: delivery.title, totals: [{ type: "total", amount: delivery.price }] }
  const groups = [{ id: "package_1", selected_option_id: selected, options: [option] }]
  return { methods: [{ id: "shipping_1", type: "shipping", destinations: method.destinations, groups }] }
}

const checkoutOf = (id: string, body: Profile): Profile | undefined => {
  const lines = linesOf(body)
  if (lines === undefined) return undefined
  const fulfillment = fulfillmentOf(body)
  const isChosen = fulfillment?.methods[0]?.groups[0]?.selected_option_id === delivery.id
  const missing = [
    ...(body.buyer?.email === undefined ? ["$.buyer.email"] : []),
    ...(isChosen ? [] : ["$.fulfillment"])
  ]
  const subtotal = sum(lines)
  const shipping = isChosen ? delivery.price : 0
  return {
    id,
    status: missing.length === 0 ? "ready_for_complete" : "incomplete",
    currency: "USD",
    ...(body.buyer === undefined ? {} : { buyer: body.buyer }),
    line_items: lines,
    ...(fulfillment === undefined ? {} : { fulfillment }),
    totals: [
      { type: "subtotal", amount: subtotal },
      ...(isChosen ? [{ type: "fulfillment", amount: shipping }] : []),
      { type: "total", amount: subtotal + shipping }
    ],
    messages: missing.map((path) => ({
      type: "error",
      code: "missing",
      path,
      content: `${path} is required`,
      severity: "recoverable"
    })),
    links: []
  }
}

const search = ({ query = "" }: Profile): Profile => ({
  products: Object.entries(prices)
    .filter(([, { title }]) => title.toLowerCase().includes(String(query).toLowerCase()))
    .map(([id, { price, title }]) => ({
      id: `prod_${id}`,
      title,
      description: { plain: title },
      price_range: { min: { amount: price, currency: "USD" }, max: { amount: price, currency: "USD" } },
      variants: [
        {
          id,
          sku: id,
          title,
          description: { plain: title },
          price: { amount: price, currency: "USD" },
          availability: { available: true }
        }
      ]
    }))
})

/** A shop's carts and checkouts in memory. */
export const selling = (): Selling => {
  const kept = new Map<string, Profile>()
  let [made, orders] = [0, 0]
  const keep = (kind: string, id: string, body: Profile): Profile => {
    const checkout = checkoutOf(id, body)
    if (checkout === undefined) return refused("item_unavailable", "An item is unknown")
    const { messages: _messages, status: _status, ...cart } = checkout
    const thing = kind === "cart" ? cart : checkout
    kept.set(id, thing)
    return thing
  }
  const end = (id: string, status: "canceled" | "completed"): Profile => {
    if (status === "completed") orders++
    const order = status === "completed" ? { order: { id: `ORD-${orders}` } } : {}
    const ended = { ...kept.get(id), status, messages: [], ...order }
    kept.set(id, ended)
    return ended
  }
  return {
    orders: () => orders,
    open: () => [...kept.values()].filter(({ status }) => status !== "canceled" && status !== "completed").length,
    do: (operation, id, body) => {
      if (operation === "search_catalog") return search(body)
      const [verb = "", kind = ""] = operation.split("_")
      if (verb === "create") return keep(kind, `${kind}_${++made}`, body)
      const known = id === undefined ? undefined : kept.get(id)
      if (id === undefined || known === undefined) return refused("not_found", `No ${kind} has this id`)
      if (verb === "update") return keep(kind, id, body)
      if (verb === "cancel") return end(id, "canceled")
      if (verb !== "complete") return known
      if (known.status === "ready_for_complete") return end(id, "completed")
      return {
        ...known,
        messages: [{ type: "error", code: "not_ready", content: "Not ready", severity: "recoverable" }]
      }
    }
  }
}
