import type { PageFacts } from "./PageFacts.ts"

export type Policy = "shipping" | "returns" | "terms" | "privacy" | "contact"

const patterns: ReadonlyArray<readonly [policy: Policy, path: RegExp, text: RegExp]> = [
  [
    "returns",
    /return|refund|rueckgabe|retour|widerruf|devoluc|devolu|resi\b|reklama|zwrot/i,
    /\breturns?\b|refund|exchange|rückgabe|rücksendung|widerruf|retours?\b|remboursement|devoluci|devoluç|reembols|\bresi\b|rimbors|retourneren|\bretur|palautus|zwrot|reklamac|vrácení|返品|退货|반품|возврат/iu
  ],
  [
    "shipping",
    /shipping|delivery|versand|livraison|envio|frete|entrega|spedizion|verzend|leverans|dostawa|doprava/i,
    /shipping|delivery|versand|lieferung|livraison|envíos?|entregas?|frete|spedizion|verzend|levering|leverans|frakt|toimitus|dostawa|wysyłka|doprava|szállítás|доставк|配送|送料|배송/iu
  ],
  [
    "privacy",
    /privacy|datenschutz|confidentialit|privacidad|privacidade|integritet|prywatno|gdpr/i,
    /privacy|datenschutz|confidentialité|vie privée|privacidad|privacidade|integritet|personvern|privatliv|tietosuoja|prywatno|ochrana osobních|конфиденциальн|プライバシー|隐私|隱私|개인정보/iu
  ],
  [
    "terms",
    /terms|conditions|\bagb\b|\bcgv\b|condiciones|condicoes|condizioni|voorwaarden|vilkor|vilkar|regulamin|legal/i,
    /terms|conditions|\bagb\b|\bcgv\b|mentions légales|condiciones|condições|termos|condizioni|voorwaarden|villkor|vilkår|ehdot|regulamin|obchodní podmínky|условия|利用規約|特定商取引|条款|이용약관/iu
  ],
  [
    "contact",
    /contact|kontakt|contacto|contato|contatt|impressum|imprint|yhteystiedot/i,
    /contact|kontakt|contacto|contato|contatti|impressum|imprint|yhteystiedot|get in touch|customer service|kundenservice|контакт|お問い合わせ|联系|聯絡|문의/iu
  ]
]

/** The first link to each policy of a shop, by the words of its address or its text. */
export const policyLinks = (facts: Pick<PageFacts, "links">): ReadonlyMap<Policy, string> => {
  const found = new Map<Policy, string>()
  for (const { href, text } of facts.links) {
    const path = URL.parse(href)?.pathname ?? ""
    // A product called "Terms of Endearment" is no policy.
    if (/\/(?:products?|collections?|blogs?|category)\//i.test(path)) continue
    // Magento's "Orders and Returns" asks which order it is about.
    if (/\/sales\/guest\//.test(path)) continue
    const short = text.slice(0, 80)
    const policy = patterns.find(([, , words]) => words.test(short)) ?? patterns.find(([, words]) => words.test(path))
    if (policy !== undefined && !found.has(policy[0])) found.set(policy[0], href)
    if (found.size === patterns.length) break
  }
  return found
}
