/** How the ways through a shop are called in the words of most shops: one place for what forms and what a browser goes by. */

/** Addresses of carts. */
export const cartPath =
  /\/(?:(?:shopping-?|view-?)?(?:cart|basket|bag)|warenkorb|einkaufswagen|panier|carrito|cesta|carrello|carrinho|sacola|winkelwagen|winkelmand(?:je)?|varukorg|kundvagn|kurv|indkoebskurv|handlekurv|ostoskori|koszyk|ko[sš][ií]k|sepet(?:im)?|korzina|корзина)(?:\.\w{2,5})?\/?$/iu

/** What a button that goes on says, in languages in which it says nothing else. */
export const onward = [
  "weiter|fortfahren|speichern\\s+und\\s+weiter",
  "continuer|suivante?|étape\\s+suivante",
  "continuar|siguiente",
  "continua|avanti|prosegui",
  "avançar|próximo|seguinte",
  "doorgaan|(?:ga\\s+)?verder|volgende(?:\\s+stap)?",
  "fortsätt|nästa(?:\\s+steg)?|fortsæt|næste|fortsett|neste|jatka|seuraava",
  "(?:przejdź\\s+)?dalej|kontynuuj|pokračovat|pokračovať|další|ďalej|tovább",
  "devam(?:\\s+et)?|далее|продолжить|далі|продовжити",
  "次へ(?:進む)?|下一步|다음(?:\\s*단계)?"
].join("|")
