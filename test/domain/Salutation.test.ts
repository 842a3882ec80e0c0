import { assert, it } from "vitest"
import { isSalutation } from "#domain/Salutation.ts"

it("how somebody is addressed is asked for by many names, and what stands before a number is none of them", () => {
  for (const names of [
    "billing[prefix] billing:prefix *Prefix",
    "name_prefix Name prefix",
    "customer[title] Title",
    "anrede Anrede *",
    "Salutation",
    "prefix",
    "title",
    "customer_title",
    "civilite Civilité",
    "tratamiento Tratamiento",
    "gender Gender *",
    "id_gender Social title"
  ])
    assert.isTrue(isSalutation(names), names)
  for (const names of [
    "phone_prefix Prefix",
    "prefix Country code",
    "vat[prefix] VAT",
    "mobile_prefix",
    "prefix Tel.",
    "prefix Dial in",
    "prefix Area",
    "code_prefix",
    "prefix Tax",
    "titles",
    "unprefixed",
    "prefixes",
    "subtitle",
    "billing[firstname] First Name"
  ])
    assert.isFalse(isSalutation(names), names)
})
