import { assert, it } from "vitest"
import { leadsToOrder } from "#domain/OrderingWords.ts"

it("a way on leads to an order in every language in which it could go on", () => {
  for (const button of [
    "Continue to order",
    "Weiter zum Kauf",
    "Continuer et passer commande",
    "Continuar con el pedido",
    "Continua e acquista",
    "Avançar para a compra",
    "Verder naar bestellen",
    "Fortsätt till köp",
    "Jatka ja tilaa",
    "Przejdź dalej i kup",
    "Pokračovat v objednávce",
    "Siparişe devam et",
    "Tovább a rendeléshez",
    "Продолжить заказ",
    "Продовжити замовлення",
    "次へ（注文）",
    "下一步：提交订单",
    "다음: 구매",
    "متابعة الشراء",
    "متابعة الطلب",
    "המשך לרכישה",
    "המשך להזמנה",
    "ادامه سفارش",
    "ادامه خرید",
    "Tiếp tục đặt đơn",
    "Tiếp tục mua hàng",
    "ดำเนินการต่อเพื่อซื้อ",
    "आगे बढ़ें और खरीदें",
    "आगे बढ़ें और ऑर्डर दें"
  ])
    assert.isTrue(leadsToOrder(button), button)
  for (const button of ["Continue", "Weiter", "Devam et", "متابعة", "המשך", "ادامه", "Tiếp tục", "ถัดไป", "आगे बढ़ें"])
    assert.isFalse(leadsToOrder(button), button)
  // Who shops as a guest has ordered nothing yet.
  for (const button of ["Misafir olarak alışverişe devam et", "Vendégként vásárlok"])
    assert.isFalse(leadsToOrder(button), button)
})
