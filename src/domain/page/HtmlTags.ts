const set = (names: string): ReadonlySet<string> => new Set(names.split(" "))

const voids = set("area base basefont br col command embed frame hr img input keygen link meta param source track wbr")
const heads = set("title meta link base script style noscript template")
const blocks = set(
  "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol option optgroup p pre section select summary table tbody textarea tfoot thead title tr ul"
)
const spaced = set("button label td th input output img svg iframe")

/** An element without an end. */
export const isVoid = (tag: string) => voids.has(tag)
/** What may stand in the head; anything else ends it. */
export const isHeadTag = (tag: string) => heads.has(tag)
/** Begins and ends a line of text. */
export const isBlock = (tag: string) => blocks.has(tag)
/** Its text is a word of its own. */
export const isSpaced = (tag: string) => spaced.has(tag)

/** Elements whose text nobody sees as text of the page. */
export const neverShown = set(
  "script style template title textarea select datalist option svg math iframe object noembed noframes head audio video canvas"
)

const paragraph = set("p")
const cells = set("td th")

/** What ends when an element begins whose name stands here, as long as it is the innermost. */
export const impliedClose: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["li", set("li p")],
  ["dd", set("dd dt p")],
  ["dt", set("dd dt p")],
  ["option", set("option")],
  ["optgroup", set("option optgroup")],
  ["select", set("option optgroup select")],
  ["button", set("button p")],
  ["a", set("a")],
  ["tr", set("tr td th")],
  ["td", cells],
  ["th", cells],
  ["tbody", set("tr td th thead tbody")],
  ["tfoot", set("tr td th thead tbody")],
  ["body", set("head")],
  ...[...blocks]
    .filter(
      (tag) => !/^(?:li|dd|dt|option|optgroup|select|tr|tbody|tfoot|body|title|legend|summary|caption)$/.test(tag)
    )
    .map((tag) => [tag, paragraph] as const)
])
