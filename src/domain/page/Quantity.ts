import type { PageControl } from "./PageFacts.ts"

const many =
  "q|qty|quantity|menge|anzahl|amount|cantidad|quantit[eéà]|quantidade|aantal|antal|määrä|ilo[sś][cć]|mno[zž]stv[ií]|po[cč]et|adet|miktar|mennyis[eé]g|количество|кількість|数量|數量|수량|الكمية|כמות|تعداد|s[oố] l[uư][oợ]ng|จำนวน|मात्रा"
/** By its name, which may be that of a line or of a part of the page: `lines[12][quantity]`, `qty[]`, `quantity_wanted`. */
const quantityName = new RegExp(
  `^(?:.{0,80}\\[)?(?:(?:add|product|item|input)[-_])?(?:${many})(?:[-_](?:wanted|\\d{1,12}))?\\]?(?:\\[[\\w-]{0,40}\\])?$`,
  "iu"
)
const quantityLabel = new RegExp(`^\\P{L}*(?:${many})\\P{L}*$`, "iu")

/** Whether a field says how many of a thing are meant, by its name, or as a field of numbers by its label. */
export const isQuantity = ({ label, name, type }: Pick<PageControl, "label" | "name" | "type">): boolean =>
  quantityName.test((name ?? "").slice(0, 200)) || (type === "number" && quantityLabel.test((label ?? "").slice(0, 80)))
