import { specimens } from "./NationalId.ts"

/**
 * Who our tests say they are: nobody. The name is reserved (RFC 2606). A telephone number is one that is kept for fiction, and where a
 * country keeps none the switchboard of the building.
 */
export interface TestShopper {
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly phone: string
  readonly line1: string
  readonly city: string
  readonly region: string
  readonly regionName: string
  readonly postalCode: string
  readonly country: string
  readonly countryName: string
  /** In the language of the country, where that is another. */
  readonly countryLocal?: string
  /** Where shops ask everybody for the number of their identity card or tax: a specimen's, with the digits that check it. */
  readonly nationalId?: string
}

const person = { email: "agent-checkout-test@example.com", firstName: "Agent", lastName: "Checkout-Test" }

type Place = readonly [line1: string, city: string, postalCode: string, region: string, regionName: string]
const living = (
  country: string,
  [countryName, countryLocal]: readonly [name: string, local?: string],
  phone: string,
  [line1, city, postalCode, region, regionName]: Place
): TestShopper => ({
  ...person,
  phone,
  line1,
  city,
  region,
  regionName,
  postalCode,
  country,
  countryName,
  ...(countryLocal === undefined ? {} : { countryLocal }),
  ...(Object.hasOwn(specimens, country) ? { nationalId: specimens[country] } : {})
})

/** An address by the country that a shop sells to. All are public buildings, so that any check of addresses knows them. */
export const shoppers = {
  US: living("US", ["United States"], "+12025550143", [
    "1600 Pennsylvania Avenue NW",
    "Washington",
    "20500",
    "DC",
    "District of Columbia"
  ]),
  CA: living("CA", ["Canada"], "+16135550143", ["111 Wellington Street", "Ottawa", "K1A 0A9", "ON", "Ontario"]),
  GB: living("GB", ["United Kingdom"], "+442079460143", ["10 Downing Street", "London", "SW1A 2AA", "LND", "London"]),
  DE: living("DE", ["Germany", "Deutschland"], "+493023125143", [
    "Platz der Republik 1",
    "Berlin",
    "11011",
    "BE",
    "Berlin"
  ]),
  AU: living("AU", ["Australia"], "+61255500143", [
    "1 Parliament Drive",
    "Canberra",
    "2600",
    "ACT",
    "Australian Capital Territory"
  ]),
  FR: living("FR", ["France"], "+33199000143", ["126 Rue de l'Université", "Paris", "75007", "IDF", "Île-de-France"]),
  IT: living("IT", ["Italy", "Italia"], "+390667601", ["Piazza di Monte Citorio 1", "Roma", "00186", "RM", "Roma"]),
  ES: living("ES", ["Spain", "España"], "+34915880000", ["Plaza de Cibeles 1", "Madrid", "28014", "M", "Madrid"]),
  NL: living("NL", ["Netherlands", "Nederland"], "+31206249111", [
    "Amstel 1",
    "Amsterdam",
    "1011 PN",
    "NH",
    "Noord-Holland"
  ]),
  AT: living("AT", ["Austria", "Österreich"], "+431401100", ["Dr.-Karl-Renner-Ring 3", "Wien", "1010", "9", "Wien"]),
  CH: living("CH", ["Switzerland", "Schweiz"], "+41584622111", ["Bundesplatz 3", "Bern", "3005", "BE", "Bern"]),
  SE: living("SE", ["Sweden", "Sverige"], "+46846500443", [
    "Hantverkargatan 1",
    "Stockholm",
    "111 52",
    "AB",
    "Stockholm"
  ]),
  NO: living("NO", ["Norway", "Norge"], "+4723313050", ["Karl Johans gate 22", "Oslo", "0026", "03", "Oslo"]),
  DK: living("DK", ["Denmark", "Danmark"], "+4533375500", [
    "Rådhuspladsen 1",
    "København V",
    "1550",
    "84",
    "Hovedstaden"
  ]),
  PL: living("PL", ["Poland", "Polska"], "+48226942500", [
    "ul. Wiejska 4/6/8",
    "Warszawa",
    "00-902",
    "14",
    "Mazowieckie"
  ]),
  CZ: living("CZ", ["Czech Republic", "Česko"], "+420257171111", ["Sněmovní 4", "Praha", "118 26", "10", "Praha"]),
  IN: living("IN", ["India"], "+911123034000", ["Sansad Marg", "New Delhi", "110001", "DL", "Delhi"]),
  JP: living("JP", ["Japan", "日本"], "+81335815111", ["Nagatacho 1-7-1", "Chiyoda-ku", "100-0014", "13", "Tokyo"]),
  BR: living("BR", ["Brazil", "Brasil"], "+556132160000", [
    "Praça dos Três Poderes, s/n",
    "Brasília",
    "70160-900",
    "DF",
    "Distrito Federal"
  ]),
  MX: living("MX", ["Mexico", "México"], "+525550360000", [
    "Avenida Congreso de la Unión 66",
    "Ciudad de México",
    "15960",
    "CMX",
    "Ciudad de México"
  ])
} as const satisfies Record<string, TestShopper>

/** Where shops that ask for a currency may be, the likeliest first. */
const countriesOf: Readonly<Record<string, ReadonlyArray<Country>>> = {
  USD: ["US"],
  CAD: ["CA"],
  GBP: ["GB"],
  EUR: ["DE", "FR", "IT", "ES", "NL", "AT"],
  AUD: ["AU"],
  CHF: ["CH"],
  SEK: ["SE"],
  NOK: ["NO"],
  DKK: ["DK"],
  PLN: ["PL"],
  CZK: ["CZ"],
  INR: ["IN"],
  JPY: ["JP"],
  BRL: ["BR"],
  MXN: ["MX"]
}
/** Who speaks it at home; of German, those who say so. */
const countryOfLanguage: Readonly<Record<string, Country>> = { de: "DE", fr: "FR", it: "IT", es: "ES", nl: "NL" }

export type Country = keyof typeof shoppers
const isOurs = (country: string): country is Country => Object.hasOwn(shoppers, country)

/** By what it may be told in which country a shop sells. */
export interface ShopSigns {
  readonly currency: string | null
  /** As `<html lang>` has it. */
  readonly language?: string | null
  /** What was said of the merchant: ISO 3166, two letters. */
  readonly country?: string | null
}

/** Who shops, and whether the shop is known to be of that country: elsewhere a refused address may be our own fault. */
export interface ShopperChosen {
  readonly shopper: TestShopper
  readonly isAtHome: boolean
}

/** The shopper for a shop: of the country that was said, else of the one that currency and language point to, else a guess. */
export const shopperOf = ({ country, currency, language }: ShopSigns): ShopperChosen => {
  const said = country?.toUpperCase()
  if (said !== undefined && isOurs(said)) return { shopper: shoppers[said], isAtHome: true }
  const countries = countriesOf[currency ?? ""] ?? []
  const [spoken = "", ...parts] = (language ?? "").split(/[-_]/)
  const region = parts.map((part) => part.toUpperCase()).find((part) => /^[A-Z]{2}$/.test(part))
  const home = region ?? countryOfLanguage[spoken.toLowerCase()]
  const spokenAt = countries.find((one) => one === home)
  const [first = "US"] = countries
  const isOnly = countries.length === 1
  return { shopper: shoppers[spokenAt ?? first], isAtHome: said === undefined && (isOnly || spokenAt !== undefined) }
}

const namesOf = ({ country, countryLocal, countryName }: TestShopper) =>
  [country, countryName, ...(countryLocal === undefined ? [] : [countryLocal])].map((name) => name.toLowerCase())

/** All shoppers, those first who pay in the money of this one. */
const nearest = ({ country }: TestShopper): ReadonlyArray<TestShopper> => [
  ...Object.values(countriesOf)
    .filter((countries) => countries.some((one) => one === country))
    .flatMap((countries) => countries.map((one): TestShopper => shoppers[one])),
  ...Object.values<TestShopper>(shoppers)
]

/** The shopper where a form lists the countries that it takes: another one, when only that one's is listed. */
export const shopperAmong = (shopper: TestShopper, listed: ReadonlyArray<string>): TestShopper => {
  const words = new Set(listed.map((word) => word.trim().toLowerCase()))
  const isListed = (one: TestShopper) => namesOf(one).some((name) => words.has(name))
  if (words.size === 0 || isListed(shopper)) return shopper
  return nearest(shopper).find(isListed) ?? shopper
}
