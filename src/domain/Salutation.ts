const words =
  /salutation|anrede|gender|civilit|tratamiento|(?:^|[^a-z])title(?:$|[^a-z])|(?:^|[\s\d[_*:-])(?:name[\s_-]?)?prefix(?:$|[\s\]*:])/i
const ofNumbers = /phone|mobile|\btel|dial|country|area|code|vat|tax/i

/** Whether a choice is how somebody is addressed, which many shops want to know without saying so. What stands before a number is none. */
export const isSalutation = (names: string): boolean => words.test(names) && !ofNumbers.test(names)
