/** Why the money of a call was given back, in the words of `failure`, and what each of them means to who reads payments. */
export const paymentFailures = {
  origin_status: "the origin answered with a status that is not charged, `origin_status`",
  origin_unreachable: "no connection to the origin, or one that broke",
  origin_timeout: "the origin took longer than `timeoutMs`",
  origin_bad_answer: "the origin's answer cannot be passed on",
  origin_forbidden_address: "the origin's name has an address that may not be called",
  request_not_forwardable: "the caller's request cannot be put into HTTP as it is",
  caller_gone: "the caller left before the answer was charged",
  caller_slow: "the caller's body came too slowly",
  endpoint_busy: "too many calls of the endpoint were under way",
  payer_busy: "too many calls of this payer were under way",
  not_called: "the origin was not called: `rateLimit`, or too little time left to settle in",
  settlement_refused: "the chain did not give the money, and the answer was not handed out",
  interrupted: "the process that served the call ended before its outcome was recorded"
} as const
export type PaymentFailure = keyof typeof paymentFailures

/** All of them in one sentence, for the reference. */
export const paymentFailuresInWords: string = Object.entries(paymentFailures)
  .map(([word, meaning]) => `\`${word}\` (${meaning})`)
  .join(", ")
