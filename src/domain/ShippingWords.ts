import { paymentFingerprints } from "./page/Payments.ts"

const ships =
  /ship|deliver|(?:flat|table)[\s_-]?rate|pick ?up|collect|standard|express|courier|\bpost\b|versand|liefer|livraison|envío|envio|spedizione|consegna|entrega|verzend|bezorg|frakt|levering|wysyłk|dostaw|doprav|配送|배송/i
/** How a shop may write to somebody, which by post is no shipping. */
const writes = /contact[\s_-]?(?:by|me|via|method|pref)|marketing|consent|newsletter/i
const pays = /pay|zahl|paiement|pago|betal|card|billing|same as|different|address/i

/** Whether a choice is one of shipping, by its name and by what its field is called. "Cash on delivery" is a way to pay. */
export const isShipping = (name: string, attributes = ""): boolean => {
  if (
    pays.test(attributes) ||
    writes.test(attributes) ||
    paymentFingerprints.some(({ choice }) => choice?.test(name) === true)
  )
    return false
  return ships.test(attributes) || (ships.test(name) && !pays.test(name))
}
