import { Metric } from "effect"

export const groupSizes = Metric.histogram("turnpike_ledger_group_size", {
  description: "Commands posted in one transaction",
  boundaries: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
})
export const misremembered = Metric.counter("turnpike_ledger_misremembered", {
  description: "Groups decided from memory that the database refused, and that were decided again"
})
