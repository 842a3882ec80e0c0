import { assert, describe, it } from "vitest"
import { orderTaken } from "#domain/OrderTaken.ts"

const before = "Your details Email Name Street Continue All rights reserved. Order no. KAN-01"
const said = (after: string, leadsOn = false) => orderTaken(before, after, { leadsOn })?.said

describe("a page that came after something was sent", () => {
  it("took an order when it says so in a sentence, in the languages of most shops, whatever else is on it", () => {
    for (const text of [
      "Thank you for your order!",
      "Your order OS-77 is confirmed.",
      "We have received your order.",
      "Your booking has been confirmed",
      "Order created, redirecting to your bank",
      "Vielen Dank für Ihre Bestellung",
      "Ihre Bestellung ist bei uns eingegangen.",
      "Merci pour votre commande",
      "Votre commande a bien été enregistrée",
      "Gracias por su pedido",
      "Su pedido ha sido confirmado",
      "Grazie per il tuo ordine",
      "Il tuo ordine è stato ricevuto",
      "Obrigado pela sua compra",
      "Seu pedido foi realizado",
      "Bedankt voor je bestelling",
      "Tack för din beställning",
      "Tak for din ordre",
      "Takk for bestillingen",
      "Kiitos tilauksestasi",
      "Dziękujemy za złożenie zamówienia",
      "Děkujeme za vaši objednávku",
      "Siparişiniz alındı",
      "Спасибо за ваш заказ",
      "Ваш заказ № 15 принят",
      "ご注文ありがとうございました",
      "您的订单已提交",
      "感谢您的订购",
      "주문이 완료되었습니다",
      "Дякуємо за ваше замовлення",
      "Köszönjük a rendelését!",
      "Ďakujeme za vašu objednávku",
      "Mulțumim pentru comandă",
      "Hvala na narudžbi",
      "Ευχαριστούμε για την παραγγελία",
      "شكرا لطلبك",
      "תודה על ההזמנה",
      "Cảm ơn bạn đã đặt hàng",
      "Terima kasih atas pesanan Anda",
      "下单成功"
    ])
      assert.isDefined(said(text, true), text)
  })

  it("took one when it only thanks, gives a number or says booked, and leads nowhere else", () => {
    for (const text of [
      "Thanks",
      "Thank you! Your loaf is reserved.",
      "danke",
      "Merci",
      "Gracias",
      "Grazie",
      "Obrigada",
      "Bedankt",
      "Tack",
      "Tak",
      "Kiitos",
      "Dziękujemy",
      "Děkujeme",
      "Teşekkürler",
      "Спасибо",
      "ありがとうございました",
      "谢谢",
      "감사합니다",
      "Order no. 4711",
      "Order confirmed",
      "Order placed",
      "Pedido realizado con éxito",
      "Commande confirmée",
      "Ihre Bestellnummer lautet 4711",
      "Numéro de commande : 4711",
      "Número de pedido: 4711",
      "注文番号: 4711",
      "Der Tisch ist reserviert",
      "La mesa está reservada"
    ]) {
      assert.isDefined(said(text), text)
      assert.isUndefined(said(text, true), `${text} on a page that leads on`)
    }
  })

  it("took none by what stood there before, by a condition, or by a clock that runs", () => {
    for (const text of [
      "Shipping method Standard Continue to payment All rights reserved. Order no. KAN-01",
      "You will get an email once your order has been confirmed.",
      "Sie erhalten eine E-Mail, sobald Ihre Bestellung ist eingegangen",
      "Ihre Bestellung ist noch nicht abgeschlossen",
      "Your tickets are reserved for 10:00 minutes",
      "Tous droits réservés",
      "Todos los derechos reservados"
    ])
      assert.isUndefined(said(text), text)
  })

  it("tells by what the order is called, where it says it", () => {
    assert.strictEqual(
      orderTaken("", "Thank you! Your order OS-77 is confirmed.", { leadsOn: false })?.reference,
      "OS-77"
    )
    assert.strictEqual(orderTaken("", "Danke! Bestellnummer: 100234", { leadsOn: false })?.reference, "100234")
    assert.isUndefined(orderTaken("", "Merci pour votre commande.", { leadsOn: false })?.reference)
  })
})
