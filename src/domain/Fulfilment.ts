import type { Fulfilment } from "./NextStep.ts"

/** What comes by mail or over the net, is collected, or is a visit, in the languages of most shops. */
const unshipped =
  /(?<!\p{L})e-?books?(?!\p{L})|\baudio-?books?\b|\bpdf\b|\bmp3\b|\bdownload(?:able)?\b|\bdigital\s+(?:product|good|item|copy|delivery|edition|file)|\b(?:software|licen[cs]e)\s?(?:key|code)?\b|\bonline\s+course\b|\bwebinar\b|\btickets?\b|\be-?(?:tickets?|vouchers?)\b|\bby\s+e-?mail\b|\b(?:pick\s?up|collect)\s+(?:in|at|from)\s|click\s+(?:&|and)\s+collect|\bappointment\b|\bbooking\b|herunterladen|hörbuch|lizenz|eintrittskart|abhol(?:ung|en)|per\s+e-?mail|télécharg|livre\s+numérique|billet(?:s|terie)?\b|retrait\s+en\s+magasin|par\s+e-?mail|descarga|libro\s+electrónico|entradas\b|recoger\s+en|por\s+(?:e-?mail|correo\s+electrónico)|scarica|biglietti?\b|ritiro\s+in|via\s+e-?mail|baixar|ingressos?\b|retirar\s+na|downloaden|afhalen|ladda\s+ner|hämta\s+i|pobierz|odbiór\s+osobist|ke\s+stažení|osobní\s+odběr|indir|скачать|самовывоз|ダウンロード|電子書籍|下载|下載|电子书|다운로드|전자책/iu
const posted =
  /\bshipping\b|\bships?\b|\bdelivery\b|\bpostage\b|\bparcel\b|versand|liefer|zustell|livraison|expédi|env[ií]o|entrega|spedizion|consegn|\bfrete\b|verzend|bezorg|levering|leverans|\bfrakt\b|forsendelse|\bfragt\b|toimitu|dostaw|wysył|doprav|doručen|szállít|kargo|teslimat|gönderim|доставк|配送|送料|お?届け|运费|運費|送货|送貨|배송/iu

/**
 * Whether a thing is sent by post, so that nobody can order it without an address: something of what the shop says of it speaks of that,
 * and nothing of mails, downloads or collecting. `thing` is what it is called, `pages` what its pages say.
 */
export const fulfilmentOf = (thing: string, pages: ReadonlyArray<string>): Fulfilment => {
  const said = pages.map((page) => page.slice(0, 20_000))
  return {
    isShipped:
      !unshipped.test(thing) && !said.some((one) => unshipped.test(one)) && said.some((one) => posted.test(one))
  }
}
