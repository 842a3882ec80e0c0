import { onward, toCheckout } from "#domain/CartWords.ts"
import { choiceFirst } from "#domain/ChoiceWords.ts"
import { guestLabel } from "#domain/GuestWords.ts"
import { toReview, toShipping } from "#domain/NextStep.ts"
import { any, whole } from "#domain/WordPatterns.ts"

/** What controls of a shop are called in the languages we read. All are compared with folded spaces and without case, in the page as well, where no quotation mark may stand in them. */

/** The languages whose words are below, by the first part of `<html lang>`. */
export const languages: ReadonlySet<string> = new Set(
  "en de fr es it pt nl sv da no nb nn fi pl cs tr ru ja zh ko".split(" ")
)

/** The words of going on, or those of which every form knows that they name shipping as the next step; none that go back. */
const onwards = (...patterns: ReadonlyArray<string>) =>
  any(
    whole(...patterns).source,
    `^(?!.*(?:\\b(?:back|return|edit|change)\\b|zurück|ändern|retour|modifier|volver|editar|torna|voltar|terug|tillbaka|tilbage|tilbake|takaisin|wróć|zpět|geri|назад|戻る|返回|돌아가)).*(?:${toShipping})`
  )

/** What takes a thing out of a cart, by its own name as well; an account, an address and a list are none. */
const removal = (...patterns: ReadonlyArray<string>) => {
  const others =
    "account|konto|compte|cuenta|(?<!\\p{L})conta(?!\\p{L})|wish|merkzettel|address|adresse?|osoit|(?<!\\p{L})tili|hesap|аккаунт|адрес|アカウント|住所|账户|帳戶|地址|계정|주소"
  return new RegExp(`^(?!.*(?:${others}))${whole(...patterns).source.slice(1)}`, "iu")
}

/** What consent says beside itself on its button: that the box goes away by it. */
const andClose =
  "\\s+(?:&|and|und|et|y|e|en)\\s+(?:close|continue|proceed|schließen|weiter|fortfahren|fermer|continuer|cerrar|continuar|chiudi|continua|fechar|sluiten|doorgaan)"

/** What may be pressed, and for what. */
export const allowed = {
  addToCart: any(
    "\\badd\\s+(?:item\\s+)?to\\s+(?:(?:your|my|the|shopping)\\s+)*(?:cart|bag|basket|trolley|order)",
    "in\\s+(?:den|meinen)\\s+(?:warenkorb|einkaufswagen|einkaufskorb)",
    "ajouter\\s+(?:au|à\\s+mon)\\s+panier",
    "(?:añadir|agregar|anadir)\\s+(?:al|a\\s+la|a\\s+mi)\\s+(?:carrito|cesta|bolsa|carro)",
    "aggiungi\\s+(?:al|alla)\\s+(?:carrello|borsa)",
    "adicionar\\s+(?:ao|à|a)\\s+(?:carrinho|sacola|cesto)",
    "(?:in|aan)\\s+(?:mijn\\s+)?(?:winkelwagen|winkelmand|winkelmandje)",
    "lägg\\s+(?:till\\s+)?i\\s+(?:varukorg|kundvagn|korg)",
    "(?:læg|føj|tilføj)\\s+(?:i|til)\\s+(?:kurv|indkøbskurv)",
    "(?:legg|kjøp)\\s+i\\s+(?:handlekurv|handlevogn)",
    "lisää\\s+(?:ostos)?koriin",
    "do\\s+koszyka",
    "do\\s+košíku",
    "sepete\\s+ekle",
    "в\\s+корзину",
    "カート(?:に|へ)|かごに入れる",
    "加入(?:购物车|購物車|购物袋)|添加到购物车|放入购物车",
    "(?:장바구니|카트)(?:에)?\\s?(?:담기|추가)"
  ),
  choiceFirst,
  toCheckout: any(
    "\\bcheck\\s?out\\b",
    "zur\\s+kasse",
    "tramitar\\s+(?:el\\s+)?pedido",
    "procedi\\s+(?:al|con)",
    "^\\W*afrekenen\\W*$|naar\\s+(?:de\\s+)?kassa",
    "till\\s+kassan|til\\s+kass|kassalle",
    "do\\s+kasy|k\\s+pokladně|к\\s+оформлению",
    "レジに進む|去结算|结算|結帳",
    toCheckout
  ),
  asGuest: guestLabel,
  goOn: onwards(
    "(?:save\\s+(?:and|&)\\s+)?(?:continue|next|proceed)(?:\\s+step)?",
    "(?:continue|proceed|next|on)\\s*:?\\s*(?:to\\s+)?(?:shipping|delivery|payment|billing|address(?:es)?)(?:\\s+(?:method|options?|details|information))?",
    toReview,
    "next\\s+step|(?:continue|proceed|continuar|lanjutkan)\\s+(?:to\\s+|o\\s+)?check[-\\s]?out",
    "(?:save|use|ship\\s+to|deliver\\s+to)\\s+(?:this\\s+)?address",
    "weiter\\s+(?:zu|zur|zum|zu\\s+den|mit)\\s+(?:versand|liefer|zahlung|adresse)\\S*",
    "continuar\\s+(?:al?|con)\\s+(?:(?:la|las|el)\\s+)?(?:método\\s+de\\s+)?(?:envío|pago|entrega|direcci(?:ón|ones))",
    "(?:continuer|poursuivre|passer)\\s+(?:vers|à|avec|aux?)\\s+(?:(?:la|le|les)\\s+)?(?:livraison|paiement|adresses?)",
    "(?:continua|prosegui|procedi|vai)\\s+(?:al|alla|agli|con)\\s+(?:(?:il|la|gli)\\s+)?(?:pagamento|spedizione|consegna|indirizz[oi])",
    "(?:continuar|avançar|prosseguir)\\s+(?:para|com)\\s+(?:[oa]s?\\s+)?(?:pagamento|entrega|envio|endereços?)",
    "(?:doorgaan|(?:ga\\s+)?verder)\\s+(?:naar|met)\\s+(?:de\\s+)?(?:betal|verzend|bezorg|adres)\\S*",
    "(?:przejdź|kontynuuj)\\s+(?:do\\s+)?(?:płatności|dostawy|adres\\S*)",
    "(?:fortsätt|fortsæt|fortsett|gå\\s+vidare)\\s+till?\\s+(?:betaling|betalning|levering|leverans|frakt|adress)\\S*",
    "(?:kassier|bestell|bezahl)vorgang\\s+fortsetzen|(?:continuer|poursuivre)\\s+le\\s+paiement|continuar\\s+(?:la\\s+)?finalización\\s+de\\s+la\\s+compra",
    "продолжить\\s+оформление(?:\\s+заказа)?|继续结[账帐]|繼續結[帳賬]|الاستمرار\\s+إلى\\s+الدفع(?:\\s+والخروج)?",
    onward
  ),
  // Whichever language it is, most call it as the thing is: "Remove Linen Towel", "Linen Towel entfernen".
  remove: removal(
    "remove(?:\\s+.{1,80})?|delete(?:\\s+item)?",
    "(?:entfernen|löschen|verwijder(?:en)?)(?:\\s*:?\\s+.{1,80})?|.{1,80}\\s(?:entfernen|löschen|verwijderen)",
    "(?:supprimer|retirer|enlever|eliminar|quitar|borrar|remover|excluir|rimuovi|elimina)(?:\\s*:?\\s+.{1,80})?",
    "(?:ta\\s+bort|fjern|poista|usuń|odebrat|odstranit|удалить)(?:\\s*:?\\s+.{1,80})?|(?:.{1,80}\\s)?(?:kaldır|sil)",
    "(?:empty|clear)\\s+(?:(?:my|your|the|shopping)\\s+)*(?:cart|bag|basket|trolley)|warenkorb\\s+(?:leeren|löschen)|vider\\s+(?:le|mon)\\s+panier|vaciar\\s+(?:el\\s+|mi\\s+)?carrito|svuota\\s+(?:il\\s+)?carrello",
    "إزالة|حذف|إفراغ\\s+السلة|הסר|מחק|רוקן\\s+סל|xóa|ลบ|हटाएं",
    "(?:.{1,80}を)?削除(?:する)?|カートを空にする|(?:删除|移除)(?:\\s*.{1,80})?|(?:.{1,80}\\s)?(?:삭제|제거)|[×✕✖x]"
  ),
  more: whole(
    "\\+|(?:increase|increment|raise)(?:\\s+(?:the\\s+)?(?:quantity|amount)(?:\\s+(?:by\\s+(?:one|1)|for\\s+.{1,80}))?)?|(?:add|one)\\s+more",
    "(?:menge|anzahl)\\s+erhöhen|(?:augmenter|aumentar|aumenta)(?:\\s+(?:la\\s+)?(?:quantité|cantidad|quantità|quantidade))?|aantal\\s+verhogen|öka(?:\\s+antal(?:et)?)?|zwiększ(?:\\s+ilość)?|数量を増やす|增加(?:数量|數量)?|수량\\s*증가"
  ),
  close: whole(
    "(?:close|dismiss|hide)(?:\\s+(?:this|the))?(?:\\s+(?:dialog|modal|pop-?up|window|message|offer|form))?",
    "schließen|fermer|cerrar|chiudi|fechar|sluiten|stäng|luk|lukk|sulje|zamknij|zavřít|kapat|закрыть",
    "閉じる|关闭|關閉|닫기|[×✕✖⨯x]"
  ),
  decline: whole(
    "no,?\\s+thanks?(?:\\s+you)?|not\\s+now|(?:maybe\\s+)?later|skip",
    "nein,?\\s+danke|(?:vielleicht\\s+)?später|non,?\\s+merci|plus\\s+tard|no,?\\s+gracias|no,?\\s+grazie|não,?\\s+obrigad[oa]|nee,?\\s+(?:dank\\s+je|bedankt)",
    "nej\\s+tac?k|nei\\s+takk|ei\\s+kiitos|nie,?\\s+dziękuję|ne,?\\s+děkuji|hayır,?\\s+teşekkürler|нет,?\\s+спасибо"
  ),
  refuseCookies: whole(
    "(?:reject|decline|refuse|deny)(?:\\s+(?:all|non-essential|optional))?(?:\\s+cookies)?|(?:only\\s+)?(?:necessary|essential)(?:\\s+(?:only|cookies))*",
    "(?:alle(?:s)?\\s+)?ablehnen|nur\\s+(?:notwendige|erforderliche).*",
    "(?:continue|proceed)\\s+without\\s+(?:accepting|agreeing|consent)|(?:nur|ausschließlich)\\s+essenzielle.*|(?:weiter|fortfahren)\\s+ohne\\s+(?:zustimmung|einwilligung|zu\\s+akzeptieren)",
    "(?:tout\\s+)?refuser(?:\\s+tout)?|continuer\\s+sans\\s+accepter",
    "rechazar(?:\\s+tod[oa]s?)?|rifiuta(?:\\s+tutt[oi])?|rejeitar(?:\\s+tod[oa]s?)?|weigeren|alles\\s+weigeren",
    "(?:avvisa|neka)(?:\\s+alla)?(?:\\s+(?:kakor|cookies))?|(?:avvis|afvis|avslå)(?:\\s+alle)?(?:\\s+cookies)?|(?:endast|bara|kun|bare)\\s+n[öø]dv[äe]ndig[ae](?:\\s+(?:kakor|cookies))?",
    "(?:hylkää|kiellä|estä)(?:\\s+kaikki)?(?:\\s+evästeet)?|vain\\s+välttämättömät(?:\\s+evästeet)?",
    "odrzuć(?:\\s+wszystk(?:ie|o))?|odmów|tylko\\s+niezbędne|odmítnout(?:\\s+(?:vše|všechny|všechno))?|(?:jen|pouze)\\s+nezbytné|odmietnuť(?:\\s+všetk[oy])?",
    "(?:tümünü\\s+|hepsini\\s+)?reddet|(?:yalnızca|sadece)\\s+(?:gerekli|zorunlu)(?:\\s+çerezler)?|отклонить(?:\\s+вс[её])?|только\\s+необходимые|відхилити(?:\\s+вс[еі])?",
    "(?:すべて|全て)?(?:を)?拒否(?:する)?|同意しない|必須(?:の)?(?:クッキー|cookie)?のみ|(?:全部|全)?拒[绝絕](?:全部|所有)?(?:\\s*cookies?)?|[仅僅]必要|(?:모두\\s?)?거부(?:하기)?|필수\\s?(?:쿠키)?만(?:\\s?허용)?"
  ),
  acceptCookies: whole(
    `(?:(?:accept|allow)(?:\\s+all)?(?:\\s+cookies)?|i?\\s*agree)(?:${andClose})?|got\\s+it|ok(?:ay)?`,
    `(?:auswahl|(?:alle(?:s|n)?\\s+)?(?:cookies\\s+)?)\\s*(?:akzeptieren|zustimmen|zulassen|erlauben|annehmen)(?:${andClose})?`,
    `(?:tout\\s+accepter|accepter(?:\\s+tout)?|(?:j\\p{P}|tout\\s+)?accepte[rz]?|autoriser(?:\\s+tou(?:t|s))?)(?:\\s+les\\s+cookies)?(?:${andClose})?`,
    `(?:aceptar|accetta|aceitar|permitir|consenti)(?:\\s+(?:tod[oa]s?|tutt[oi]))?(?:\\s+(?:(?:las|los|i|os)\\s+)?cookies)?(?:${andClose})?`,
    `(?:(?:alle(?:s)?\\s+)?(?:cookies\\s+)?(?:accepteren|toestaan)|akkoord)(?:${andClose})?`,
    "(?:godkänn|acceptera|tillåt)(?:\\s+alla)?(?:\\s+(?:kakor|cookies))?|(?:tillad|accepter|godkend|godta|godkjenn|aksepter|tillat)(?:\\s+alle)?(?:\\s+(?:cookies|informasjonskapsler))?",
    "(?:hyväksy|salli)(?:\\s+kaikki)?(?:\\s+evästeet)?",
    "(?:za)?akceptuj[eę]?(?:\\s+wszystk(?:ie|o))?(?:\\s+(?:pliki\\s+)?cookies?)?|zgadzam\\s+się|(?:přijmout|povolit|prijať|povoliť)(?:\\s+(?:vše|všechny|všechno|všetk[oy]))?(?:\\s+cookies)?|souhlasím|súhlasím",
    "(?:tümünü\\s+|hepsini\\s+)?kabul\\s+et(?:iyorum)?|(?:tümüne\\s+)?izin\\s+ver|(?:принять|принимаю|разрешить)(?:\\s+вс[её])?(?:\\s+(?:cookies?|куки))?|(?:прийняти|дозволити)(?:\\s+вс[еі])?",
    "(?:すべて|全て)?(?:の(?:クッキー|cookie))?(?:を)?(?:許可|同意|承認|承諾)(?:する)?|(?:すべて|全て)?(?:を)?受け入れる|(?:全部)?(?:接受|同意|允[许許])(?:全部|所有)?(?:\\s*cookies?)?|(?:모두|전체)?\\s?(?:동의|수락|허용)(?:하기|합니다)?"
  )
} as const satisfies Record<string, RegExp>

export type Purpose = keyof typeof allowed

/** What a box speaks of that asks about cookies. Buttons of other boxes may be called "OK" as well. */
export const aboutCookies =
  /cookie|consent|privacy|gdpr|rgpd|datenschutz|privacidad|cmp\b|kakor|informasjonskaps|eväste|ciasteczk|çerez|куки|файл(?:ы|ів|и) cookie|クッキー|隐私|隱私|쿠키/iu

/** Ways to pay that lead past the shop's own checkout. */
export const express =
  /pay\s?pal|(?:apple|google|amazon|shop|samsung|meta|link|after|click\s?to)[\s-]?pay\b|\bg\s?pay\b|klarna|clearpay|\baffirm\b|venmo|sezzle|\bsofort\b|bizum|\btwint\b|\bswish\b|\bvipps\b|mobilepay|paydirekt|alipay|wechat\s?pay|paytm|mercado\s?pago|paysafe|\bblik\b|\bbitpay\b|coinbase/i

/** What a page calls its cart. */
export const cart = any(
  "\\b(?:cart|bag|basket|trolley)\\b",
  "warenkorb|einkaufswagen|panier|carrito|cesta|carrello|carrinho|sacola|winkelwagen|winkelmand",
  "varukorg|kundvagn|indkøbskurv|handlekurv|ostoskori|koszyk|košík|sepet|корзина|カート|购物车|購物車|장바구니|카트"
)

/** What asks for a choice that was not made. */
export const choiceWanted = any(
  "(?:please\\s+)?(?:select|choose|pick)\\s+(?:an?\\s+|your\\s+|the\\s+|variant|some\\s+|product\\s+)*(?:options?|variant|size|colou?r|style|model)",
  "bitte\\s+(?:wähle|treffe)|(?:sélectionne|choisi)\\S*\\s+(?:une?|votre)|(?:selecciona|elige|elija)\\S*\\s+(?:una?|tu|su)|(?:seleziona|scegli)\\s+(?:una?|la)"
)

/** What says that there is none to be had. */
export const soldOut = any(
  "out\\s+of\\s+stock|sold\\s+out|currently\\s+unavailable|not\\s+available",
  "ausverkauft|nicht\\s+(?:verfügbar|vorrätig)|rupture\\s+de\\s+stock|épuisé|agotado|sin\\s+existencias|esaurito|esgotado|uitverkocht|slutsåld|udsolgt|utsolgt|wyprzedan|売り切れ|在庫切れ|缺货|品切",
  "loppuunmyyty|vyprodáno|tükendi|(?<!\\p{L})(?:рас)?продано(?!\\p{L})|售罄|품절"
)
