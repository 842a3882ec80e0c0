import type { VisiblePrice } from "./Price.ts"

/** What a shop's page says, read from its HTML alone. Texts are trimmed, entities decoded; every list is bounded. */
export interface PageFacts {
  readonly url: string
  readonly title: string | null
  readonly lang: string | null
  /** The text that a person sees without scripts, spaces folded; at most 20,000 characters. */
  readonly visibleText: string
  /** Its whole length. */
  readonly visibleLength: number
  /** There is more of the page than was read. */
  readonly isCut: boolean
  /** The prices in the whole visible text, at most 500. */
  readonly prices: ReadonlyArray<VisiblePrice>
  /** The heading of the first level that says what the page is about; null when there is none. */
  readonly heading: string | null
  /** Where that heading stands in the visible text, as the prices count it; null when there is none. */
  readonly headingAt: number | null
  readonly headings: ReadonlyArray<{ readonly level: number; readonly text: string }>
  readonly landmarks: ReadonlyArray<string>
  readonly links: ReadonlyArray<PageLink>
  readonly forms: ReadonlyArray<PageForm>
  /** Fields and buttons outside any form. */
  readonly controls: ReadonlyArray<PageControl>
  readonly metas: ReadonlyMap<string, string>
  /** `<link rel href type>` of the head. */
  readonly headLinks: ReadonlyArray<{ readonly rel: string; readonly href: string; readonly type: string | null }>
  readonly scripts: ReadonlyArray<string>
  /** Every JSON-LD node, `@graph` flattened; at most 200. A block that is no JSON, even read with tolerance, is in `brokenBlocks`. */
  readonly jsonLd: ReadonlyArray<JsonLdNode>
  readonly brokenBlocks: ReadonlyArray<string>
  /** Products that the page states, best first: JSON-LD, then microdata, RDFa, OpenGraph. */
  readonly products: ReadonlyArray<StatedProduct>
  /** A page that has nothing to read before its scripts have run. `marker` is what shows it. */
  readonly clientOnly: { readonly marker: string } | null
  /** Widgets of captchas on the page; `visible` ones have to be solved, others only watch. */
  readonly captchas: ReadonlyArray<{ readonly vendor: string; readonly visible: boolean; readonly marker: string }>
  /** Texts or overlays that ask for age, cookies or country before the page may be used. */
  readonly walls: ReadonlyArray<{ readonly kind: "age" | "cookie" | "geo" | "account"; readonly marker: string }>
  /** What it can be paid with, by choices and by marks in its source. */
  readonly payments: ReadonlyArray<PagePayment>
  /** The steps of a checkout as the page lists them, of which one is the current one; empty when it lists none. */
  readonly steps: ReadonlyArray<{ readonly text: string; readonly isCurrent: boolean }>
  /** Attributes of WebMCP on forms, or its API in inline scripts. */
  readonly webMcp: ReadonlyArray<string>
}

/** An object of JSON-LD, as it was parsed: values are unknown. */
export interface JsonLdNode {
  readonly [key: string]: unknown
}

export interface PageLink {
  readonly href: string
  readonly text: string
  readonly rel: string | null
}

export interface PageControl {
  readonly tag: "input" | "select" | "textarea" | "button"
  /** In lower case; `text` and `submit` when not said. */
  readonly type: string
  readonly name: string | null
  readonly id: string | null
  readonly value: string | null
  /** By `<label>`, `aria-label`, `aria-labelledby`, `title` or, last, the placeholder; of a button its text. */
  readonly label: string | null
  readonly autocomplete: string | null
  readonly required: boolean
  /** Its class says so to a script of the page, as Magento's and jQuery's do: the browser does not ask for it. */
  readonly isRequiredByScript?: true
  readonly checked: boolean
  readonly disabled: boolean
  /** It, or something around it, is not to be seen without scripts. */
  readonly isHidden?: true
  /** It stands in a box that shows a product of another page, as those of lists do. */
  readonly isOfOther?: true
  /** The least that a number may be, and between which numbers it goes, where they are said. */
  readonly min?: string
  readonly step?: string
  /** Where the form goes instead of its own address when this button is pressed; absolute. */
  readonly formAction?: string
  readonly options: ReadonlyArray<{
    readonly value: string
    readonly text: string
    readonly selected: boolean
    readonly disabled: boolean
  }>
}

export interface PageForm {
  /** Absolute; the page's own address when not said. */
  readonly action: string
  /** Without one, a page's script is most often what acts on its button. */
  readonly hasAction: boolean
  readonly method: "GET" | "POST"
  readonly enctype: string
  readonly id: string | null
  readonly role: string | null
  /** What says what it is for: the heading over it, its legend and its own text, without labels, links and buttons. At most 800 characters. */
  readonly words: string
  /** It stands in a header, a footer, a dialog or another part beside what the page is about. */
  readonly isBeside: boolean
  /** It stands before the page's main heading, and so before what the page is about. */
  readonly isAboveHeading?: true
  readonly controls: ReadonlyArray<PageControl>
}

/** A product as the page states it. Prices are decimal strings with a dot, or null when they are not. */
export interface StatedProduct {
  readonly format: "json-ld" | "microdata" | "rdfa" | "opengraph"
  readonly name: string | null
  readonly description: string | null
  readonly image: string | null
  readonly sku: string | null
  readonly gtin: string | null
  readonly brand: string | null
  readonly url: string | null
  readonly offers: ReadonlyArray<StatedOffer>
  /** `hasVariant` or `variesBy` is there, or there is an offer for each variant. */
  readonly variants: number
  readonly hasShipping: boolean
  readonly hasReturns: boolean
}

export interface StatedOffer {
  /** As the page writes it. */
  readonly rawPrice: string | null
  readonly price: string | null
  readonly currency: string | null
  /** The last part of the schema.org URL: `InStock`. */
  readonly availability: string | null
  readonly url: string | null
  readonly priceValidUntil: string | null
  readonly sku: string | null
}

/** `agent`: a program can pay with it. `deferred`: paid later, outside. `human`: a person has to. */
export interface PaymentMark {
  readonly method: string
  readonly class: "agent" | "deferred" | "human"
  readonly marker: string
}

/** `choice`: of a form. `source`: the page only loads or holds something of it. */
export interface PagePayment extends PaymentMark {
  readonly by: "choice" | "source"
}
