import { assert, it } from "vitest"
import { isSalutation } from "#domain/Salutation.ts"

it("how somebody is addressed is asked for by many names, and what stands before a number is none of them", () => {
  for (const names of [
    "billing[prefix] billing:prefix *Prefix",
    "name_prefix Name prefix",
    "customer[title] Title",
    "anrede Anrede *",
    "id_gender Social title"
  ])
    assert.isTrue(isSalutation(names), names)
  for (const names of [
    "phone_prefix Prefix",
    "prefix Country code",
    "vat[prefix] VAT",
    "subtitle",
    "billing[firstname] First Name"
  ])
    assert.isFalse(isSalutation(names), names)
})
