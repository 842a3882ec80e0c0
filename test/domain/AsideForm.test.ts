import { assert, describe, it } from "vitest"
import { type FormPurpose, maySubmit, mayTakeOrder } from "#domain/FormConduct.ts"
import { fulfilmentOf } from "#domain/Fulfilment.ts"
import { mayOrder } from "#domain/OrderingWords.ts"
import { readPage } from "#domain/page/Page.ts"

const pageOf = (html: string, path = "/checkout") => readPage(html, new URL(path, "https://shop.example"))
const form = (action: string, fields: string, button: string) =>
  `<form method="post" action="${action}">${fields}<button>${button}</button></form>`
/** Whether the last form of a checkout's page is sent, with its last control. */
const sent = (html: string, purpose: FormPurpose = "go_on") => {
  const page = pageOf(html)
  const last = page.forms.at(-1)
  const button = last?.controls.at(-1)
  return last !== undefined && button !== undefined && maySubmit(last, button.label ?? "", purpose, button, page)
}
const email = '<label>Email <input type="email" name="email"></label>'
const address = `${email}<label>Street <input name="street"></label><label>ZIP <input name="zip"></label>`

describe("a form that only asks who somebody is", () => {
  it("is not sent where the words over it or in it are of something else, in the languages that are known", () => {
    for (const words of [
      "Get 10% off your first order",
      "Sign up for our newsletter",
      "Sign in or create an account",
      "Log in or sign up",
      "Need help? We call you back",
      "Notify me when it is back in stock",
      "Anmelden oder Konto erstellen",
      "Jetzt Newsletter abonnieren",
      "Se connecter ou créer un compte",
      "Suscríbete a nuestro boletín",
      "Iscriviti alla newsletter",
      "Accedi o registrati",
      "Criar conta",
      "Inloggen",
      "Logga in",
      "Zaloguj się",
      "Přihlásit se k odběru novinek",
      "Giriş yap",
      "Войти или зарегистрироваться",
      "ログイン",
      "登录",
      "로그인"
    ]) {
      assert.isFalse(sent(`<main><div><h2>${words}</h2>${form("/checkout", email, "Continue")}</div></main>`), words)
      assert.isFalse(sent(`<main>${form("/checkout", `<p>${words}</p>${email}`, "Continue")}</main>`), words)
    }
  })

  it("is not sent where its address or its button say so, nor from a dialog or a footer", () => {
    for (const path of [
      "/api/newsletter/signup",
      "/subscribe",
      "/login",
      "/auth/otp",
      "/passwordless",
      "/account/register",
      "/customer/create",
      "/wishlist/add",
      "/cart/email-me",
      "/contact",
      "/index.php?route=account/register"
    ])
      assert.isFalse(sent(form(path, email, "Continue")), path)
    assert.isFalse(sent(form("/checkout", email, "Save my cart and email it to me")))
    for (const [tag, more] of [
      ["footer", ""],
      ["aside", ""],
      ["div", ' role="dialog"']
    ] as const)
      assert.isFalse(sent(`<${tag}${more}>${form("/checkout", email, "Go")}</${tag}>`), tag)
  })

  it("is sent where it is the checkout's own, whatever links or boxes in it say", () => {
    const contact = `${email}<label><input type="checkbox" name="news"> Email me news and offers</label><a href="/login">Log in</a>`
    assert.isTrue(sent(`<h2>Contact</h2>${form("/checkout/contact-details", contact, "Continue")}`))
    assert.isTrue(sent(`<h1>Checkout</h1>${form("/checkout", contact, "Continue")}`))
    assert.isTrue(sent(`<h2>Log in</h2>${form("/checkout/customer", email, "Continue as guest")}`, "guest"))
    assert.isFalse(sent(form("/x/7", email, "Continue")), "nothing says that it is the checkout's")
  })
})

describe("a form that asks for an address", () => {
  it("is sent whatever stands around it, unless it goes to an account or says unseen that it makes one", () => {
    assert.isTrue(sent(`<h2>Log in or create an account</h2>${form("/checkout/address", address, "Continue")}`))
    assert.isFalse(sent(form("/account/create", address, "Continue")))
    for (const [name, value] of [
      ["create_account", "1"],
      ["newsletter", "1"],
      ["donation", "5"]
    ]) {
      const hidden = (said: string) => `<input type="hidden" name="${name}" value="${said}">${address}`
      assert.isFalse(sent(form("/checkout/address", hidden(value ?? ""), "Continue")), name)
      assert.isTrue(sent(form("/checkout/address", hidden("0"), "Continue")), name)
    }
  })
})

describe("a way for guests", () => {
  it("is not taken where its button has anything to do with orders, whatever the form asks", () => {
    for (const button of [
      "Order as a guest",
      "Buy as guest",
      "Place order as guest",
      "Als Gast bestellen",
      "Als Gast kaufen",
      "Commander en tant qu'invité",
      "Comprar como invitado",
      "Hacer pedido como invitado",
      "Acquista come ospite",
      "Bestellen als gast",
      "Kup bez rejestracji",
      "Nakoupit bez registrace",
      "Osta vieraana",
      "Купить без регистрации",
      "Оформить без регистрации",
      "游客购买",
      "ゲスト購入"
    ])
      for (const fields of ["", email, address])
        assert.isFalse(sent(form("/checkout/guest", fields, button), "guest"), button)
    assert.isTrue(mayOrder("Order as a guest"))
  })

  it("is taken where it only goes on", () => {
    for (const button of [
      "Check out as guest",
      "Continue as guest",
      "Weiter als Gast",
      "Continuer en tant qu'invité",
      "Continuar como invitado",
      "Continua come ospite",
      "Verder als gast",
      "Weiter ohne Kundenkonto",
      "Continuer sans inscription",
      "Continuar sin crear una cuenta",
      "Continuar como visitante",
      "Doorgaan zonder account",
      "Fortsätt som gäst",
      "Fortsæt uden konto",
      "Jatka vieraana",
      "Kontynuuj jako gość",
      "Pokračovat bez registrace",
      "Продолжить без регистрации",
      "ゲストとして続ける"
    ])
      for (const fields of ["", email]) assert.isTrue(sent(form("/checkout/guest", fields, button), "guest"), button)
  })

  it("may be the order of a thing that needs no address, unless a later step is listed", () => {
    const held = (thing: string, text: string, more = "") => {
      const page = pageOf(`${more}<p>${text}</p>${form("/checkout/guest", email, "Continue as guest")}`)
      return mayTakeOrder(["email"], "Continue as guest", page, page.forms[0], fulfilmentOf(thing, [page.visibleText]))
    }
    assert.isTrue(held("E-Book Blue", "Shipping is free."))
    assert.isTrue(held("Preset pack", "Your download link comes by email."))
    assert.isTrue(held("Pottery class", "Total $12.50"), "nothing says that it is shipped")
    assert.isFalse(held("Blue mug", "Shipping is calculated next."))
    const listed = '<ol class="steps"><li aria-current="step">Contact</li><li>Payment</li></ol>'
    assert.isFalse(held("E-Book Blue", "", listed))
  })
})

describe("a button that orders before a thing is there", () => {
  it("fills a cart where its address says so, and nothing else", () => {
    for (const button of ["Pre-order now", "Pre order now", "Jetzt vorbestellen", "Précommander"]) {
      assert.isTrue(sent(form("/cart/add", "", button), "add_to_cart"), button)
      assert.isFalse(sent(form("/orders/new", "", button), "add_to_cart"), button)
      assert.isFalse(sent(form("/process", "", button), "add_to_cart"), button)
    }
    assert.isFalse(sent(form("/cart/add", "", "Order now"), "add_to_cart"))
  })
})
