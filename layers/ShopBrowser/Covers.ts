import { Effect } from "effect"
import type { Frame, Locator, Page } from "playwright-core"
import { asksAge } from "#domain/page/Walls.ts"
import { ask, BrowserFailed } from "./Chromium.ts"
import { aboutCookies } from "./Names.ts"
import { type Accepts, find, press, pressAway } from "./Press.ts"

const mostFrames = 8

/** Whether a frame is there to ask about cookies. What it is not asked for is never pressed, so a card's field is not. */
const asksConsent = Effect.fnUntraced(function* (frame: Frame) {
  if (aboutCookies.test(`${frame.name()} ${frame.url()}`)) return true
  const words = yield* ask(() => frame.evaluate<unknown>("String(document.body?.innerText ?? '').slice(0, 4000)"))
  return typeof words === "string" && aboutCookies.test(words)
})

const inFrames = Effect.fnUntraced(function* (page: Page) {
  const frames = page.frames().filter((frame) => frame !== page.mainFrame())
  for (const frame of frames.slice(0, mostFrames)) {
    if (!(yield* asksConsent(frame))) continue
    for (const purpose of ["refuseCookies", "acceptCookies"] as const) {
      const found = yield* find(frame, purpose, ["button"])
      if (found?.enabled === true) return yield* press(found.control, purpose)
    }
  }
  return false
})

/** Presses away what lies over a page about cookies, in the page or in a frame over it. What a frame does not answer is left there. */
export const putAway = Effect.fnUntraced(function* (page: Page) {
  return (yield* pressAway(page)) || (yield* Effect.orElseSucceed(inFrames(page), () => false))
})

/** What is drawn at a place of the page: what it is, what it is called, where it is from. Nothing, when it can be pressed itself. */
const drawnAt = (x: number, y: number) => `(() => {
  const over = document.elementFromPoint(${x}, ${y})
  if (!over || over.closest("button, a, input, [role=button]")) return ""
  const names = [over.getAttribute("title"), over.getAttribute("aria-label"), over.id, over.getAttribute("src"), over.innerText]
  return over.tagName.toLowerCase() + " " + (names.find((name) => name && name.trim() !== "") ?? "")
})()`

const coverOf = Effect.fnUntraced(
  function* (page: Page, control: Locator) {
    const box = yield* ask(() => control.boundingBox())
    if (box === null) return ""
    const said = yield* ask(() => page.evaluate<unknown>(drawnAt(box.x + box.width / 2, box.y + box.height / 2)))
    return typeof said === "string" ? said.replace(/\s+/g, " ").trim().slice(0, 100) : ""
  },
  Effect.orElseSucceed(() => "")
)

/** Puts away what closes by the key for that, as boxes that offer letters or a country do: nothing is answered. Of an age nobody is asked so. */
const escape = Effect.fnUntraced(function* (page: Page) {
  const asked = yield* ask(() => page.getByText(asksAge).count())
  if (asked === 0) yield* ask(() => page.keyboard.press("Escape"))
})

/** As much of an element as is asked here. */
interface Over {
  readonly textContent: string | null
  readonly parentElement: Over | null
  readonly ownerDocument: {
    elementFromPoint(x: number, y: number): Over | null
    querySelectorAll(selector: string): Iterable<Over>
  }
  contains(other: Over): boolean
  getBoundingClientRect(): {
    readonly left: number
    readonly top: number
    readonly width: number
    readonly height: number
  }
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
}

/** Runs in the page. Marks the outermost box that lies over a control and not around it, and tells its words. */
const markOver = (control: Over): string | null => {
  const { height, left, top, width } = control.getBoundingClientRect()
  const at = control.ownerDocument.elementFromPoint(left + width / 2, top + height / 2)
  let over: Over | undefined
  for (const old of control.ownerDocument.querySelectorAll("[data-turnpike-over]"))
    old.removeAttribute("data-turnpike-over")
  for (let box = at; box !== null && !box.contains(control); box = box.parentElement) over = box
  over?.setAttribute("data-turnpike-over", "")
  return over === undefined ? null : (over.textContent ?? "").slice(0, 4_000)
}

/** Runs in the page. Whether a button sends the form that it stands in. */
const sendsForm = (button: { readonly type?: string; readonly form?: unknown }): boolean =>
  (button.form ?? null) !== null && (button.type === "submit" || button.type === "image")

/** What does nothing but close: the shop goes on from a form that is sent, to the order perhaps. */
const sendsNothing: Accepts = (control) =>
  Effect.map(
    ask(() => control.evaluate(sendsForm)),
    (sends) => !sends
  )
/** By a word. A sign alone may as well take things out of a cart that is drawn over the page. */
const saysSo: Accepts = (control, names) =>
  names.some((name) => /\p{L}{2}/u.test(name)) ? sendsNothing(control, names) : Effect.succeed(false)

/** Closes what lies over a control by its own button for that. Of an age nobody is asked so, and a box without such a button stays. */
const close = Effect.fnUntraced(function* (page: Page, control: Locator, ways: ReadonlyArray<"close" | "decline">) {
  const words = yield* ask(() => control.evaluate(markOver))
  if (words === null || asksAge.test(words)) return false
  const over = page.locator("[data-turnpike-over]")
  // The words of a box in a shadow are none of its host's.
  if ((yield* ask(() => over.getByText(asksAge).count())) > 0) return false
  for (const way of ways) {
    const found = (yield* find(over, way, ["button"], saysSo)) ?? (yield* find(over, way, ["button"], sendsNothing))
    if (found?.enabled === true) return yield* press(found.control, way)
  }
  return false
})

/** Presses what adds to the cart, and once more after what lies over the page was put away. */
export const pressThrough = Effect.fnUntraced(function* (page: Page, control: Locator) {
  const first = yield* Effect.result(press(control, "addToCart"))
  if (first._tag === "Success") return first.success
  if (first.failure.reason !== "Slow") return yield* first.failure
  if (!(yield* putAway(page))) {
    const isClosed = yield* Effect.orElseSucceed(close(page, control, ["close", "decline"]), () => false)
    if (!isClosed) yield* escape(page)
  }
  const second = yield* Effect.result(press(control, "addToCart"))
  if (second._tag === "Success") return second.success
  const cover = second.failure.reason === "Slow" ? yield* coverOf(page, control) : ""
  if (cover === "") return yield* second.failure
  const message = `The control that adds to the cart cannot be pressed: over it lies "${cover}".`
  return yield* new BrowserFailed({ reason: "Slow", message })
})

/**
 * Presses what goes on, and once more only when something lay over it, which it had not come through, and closed. In a checkout nothing
 * that is offered is answered: many shops go on from "No thanks", and what they know may be enough for an order.
 */
export const pressOn = Effect.fnUntraced(function* (page: Page, control: Locator) {
  const first = yield* Effect.result(press(control, "goOn"))
  if (first._tag === "Success") return first.success
  const isClosed =
    first.failure.reason === "Slow" && (yield* Effect.orElseSucceed(close(page, control, ["close"]), () => false))
  return isClosed ? yield* press(control, "goOn") : yield* first.failure
})
