import { shared } from "./Money.ts"
import type { Terms } from "./Terms.ts"

const recurrence = {
  frequency: "How often it is made: every `interval` days, weeks or months, or by `cron_expression`",
  cron: "Minute, hour, day of month, month and day of week, on the clock of `timezone`",
  interval: "Every how many days, weeks or months",
  dayOfMonth: "On which day of the month; in a shorter month on its last",
  dayOfWeek: "On which day of the week; 0 is Sunday",
  time: "At which time of day, `HH:MM` on the clock of `timezone`",
  timezone: "The IANA name of the time zone whose clock counts, such as `Europe/Berlin`",
  end: "The last moment at which it may still be made",
  most: "After how many occurrences it ends, those that failed among them",
  retries: "How many more times an occurrence that failed is tried: hourly for 24 hours, then daily",
  retryDays: "For how many days after its first attempt an occurrence is tried again"
} as const

const iso = "ISO 8601 with seconds and with Z or an offset"

/** Of scheduled transfers. */
export const schedules: Terms = {
  ScheduledTransfer: {
    status:
      "`scheduled`: waiting for `next_execution_at`. `paused`: until resumed. `executed`: over, and money moved at least " +
      "once. `failed`: over, tried, and no money ever moved. `cancelled`: ended by a caller, or all occurrences fell into " +
      "pauses",
    type: "Of the transfers it makes; `wrap` and `unwrap` do the same as `internal` under another name",
    amount: "What each transfer moves",
    currency: "Of `amount`, and what both wallets hold",
    from_wallet_id: "The wallet that pays",
    to_wallet_id: "The wallet that receives",
    from_account_id: "The account whose wallet pays; for an agent's wallet the one that the agent belongs to",
    to_account_id: "The account whose wallet receives; for an agent's wallet the one that the agent belongs to",
    memo: shared.memoShown,
    scheduled_at: "When the one transfer is made; null if it recurs",
    frequency: `${recurrence.frequency}; null for a one-shot`,
    cron_expression: `${recurrence.cron}; null unless \`frequency\` is \`cron\``,
    interval: `${recurrence.interval}; 1 and without meaning for \`cron\`, null for a one-shot`,
    day_of_month: `${recurrence.dayOfMonth}; null: that of \`start_at\`, or not \`monthly\``,
    day_of_week: `${recurrence.dayOfWeek}; null: that of \`start_at\`, or not \`weekly\``,
    time: `${recurrence.time}; null: that of \`start_at\`, or \`cron\`, or a one-shot`,
    timezone: `${recurrence.timezone}; null for a one-shot`,
    start_at: "From when occurrences are counted; null for a one-shot",
    end_at: `${recurrence.end}; null where nothing ends it in time`,
    max_occurrences: `${recurrence.most}; null where their number does not matter`,
    retry_enabled: "Whether an occurrence that failed is tried again",
    max_retry_attempts: `${recurrence.retries}; without meaning when \`retry_enabled\` is false`,
    retry_window_days: `${recurrence.retryDays}; without meaning when \`retry_enabled\` is false`,
    next_execution_at: "When it is due next, which may be a retry; null while paused and once over",
    last_execution_at: "When it was tried last, with or without success; null before the first time",
    executions_completed: "How many transfers moved money",
    executions_remaining:
      "How many occurrences are left of `max_occurrences`, or of the one; 0 once over, null where nothing but time limits them",
    last_transfer_id: "The transfer of the last attempt, with or without success; null before the first",
    failure_reason: `Why the last attempt moved no money; null before it, and when it moved some: ${shared.failures}`,
    attempts:
      "How many attempts at the current occurrence have failed; 0 again with the next occurrence, kept once it is over",
    initiated_by: "Who created it; its transfers name the schedule itself",
    updated_at: "When it was last tried, paused, resumed or cancelled"
  },
  CreateScheduledTransfer: {
    type: "Of the transfers it makes; `internal` when left out. `wrap` and `unwrap` do the same under another name",
    from_wallet_id: "The wallet that pays; it may be empty or frozen now",
    to_wallet_id: "The wallet that receives, on the network of the other",
    amount: "What each transfer moves",
    currency: "Of `amount`; both wallets must hold it",
    memo: shared.memo,
    scheduled_at: `When the one transfer is made, at most five years ahead. Give this or \`frequency\`. ${iso}`,
    frequency: `${recurrence.frequency}. Give this or \`scheduled_at\``,
    cron_expression: `${recurrence.cron}. Needed for \`cron\`, and taken by it only`,
    interval: `${recurrence.interval}; 1 when left out. Not for \`cron\``,
    day_of_month: `${recurrence.dayOfMonth}; that of \`start_at\` when left out. Only for \`monthly\``,
    day_of_week: `${recurrence.dayOfWeek}; that of \`start_at\` when left out. Only for \`weekly\``,
    time: `${recurrence.time}; that of \`start_at\` when left out. Not for \`cron\``,
    timezone: `${recurrence.timezone}; \`UTC\` when left out. Only with \`frequency\``,
    start_at:
      "From when occurrences are counted, in the future and at most five years ahead; now when left out. Only with " +
      `\`frequency\`. ${iso}`,
    end_at: `${recurrence.end}; left out: nothing ends it in time. Only with \`frequency\`. ${iso}`,
    max_occurrences: `${recurrence.most}; left out: their number does not matter. Only with \`frequency\``,
    retry_enabled: "Whether an occurrence that failed is tried again; true when left out",
    max_retry_attempts: `${recurrence.retries}; 3 when left out. Not with \`retry_enabled\` false`,
    retry_window_days: `${recurrence.retryDays}; 14 when left out. Not with \`retry_enabled\` false`
  },
  "scheduled_transfers.list": {
    status: "Only schedules of this status",
    from_wallet_id: "Only those that this wallet pays for",
    account_id: "Only those whose payer or payee is a wallet of this account, or of its agents"
  }
}
