/** Who our tests say they are: nobody. The names are reserved (RFC 2606), the telephone numbers are kept for fiction. */
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
}

const person = { email: "agent-checkout-test@example.com", firstName: "Agent", lastName: "Checkout-Test" }

/** An address by the country that a shop sells to. All are public buildings, so that any check of addresses knows them. */
export const shoppers = {
  US: {
    ...person,
    phone: "+12025550143",
    line1: "1600 Pennsylvania Avenue NW",
    city: "Washington",
    region: "DC",
    regionName: "District of Columbia",
    postalCode: "20500",
    country: "US",
    countryName: "United States"
  },
  CA: {
    ...person,
    phone: "+16135550143",
    line1: "111 Wellington Street",
    city: "Ottawa",
    region: "ON",
    regionName: "Ontario",
    postalCode: "K1A 0A9",
    country: "CA",
    countryName: "Canada"
  },
  GB: {
    ...person,
    phone: "+442079460143",
    line1: "10 Downing Street",
    city: "London",
    region: "LND",
    regionName: "London",
    postalCode: "SW1A 2AA",
    country: "GB",
    countryName: "United Kingdom"
  },
  DE: {
    ...person,
    phone: "+493023125143",
    line1: "Platz der Republik 1",
    city: "Berlin",
    region: "BE",
    regionName: "Berlin",
    postalCode: "11011",
    country: "DE",
    countryName: "Germany"
  },
  AU: {
    ...person,
    phone: "+61255500143",
    line1: "1 Parliament Drive",
    city: "Canberra",
    region: "ACT",
    regionName: "Australian Capital Territory",
    postalCode: "2600",
    country: "AU",
    countryName: "Australia"
  }
} as const satisfies Record<string, TestShopper>

const countryOfCurrency: Readonly<Record<string, keyof typeof shoppers>> = {
  USD: "US",
  CAD: "CA",
  GBP: "GB",
  EUR: "DE",
  AUD: "AU"
}

/** The shopper for a shop that asks for this currency; the one in the United States when nothing better is known. */
export const shopperFor = (currency: string | null): TestShopper => shoppers[countryOfCurrency[currency ?? ""] ?? "US"]
