/** A stream for examples, a day after it began: 0.001 a second are 86.40 a day. */
export const exampleStream = {
  id: "str_01h455vb4pex5vsknk084sn02q",
  from_wallet_id: "wal_01h455vb4pex5vsknk084sn02r",
  to_wallet_id: "wal_01h455vb4pex5vsknk084sn02s",
  flow_rate: "0.001",
  currency: "USDC",
  status: "active",
  pause_reason: null,
  deposited: "1000.00",
  wrapped_balance: "813.60",
  buffer: "100.00",
  recipient_balance: "86.40",
  withdrawn: "0.00",
  returned: "0.00",
  runway_seconds: 813_600,
  exhausted_at: "2026-01-12T13:04:05.678Z",
  latest_transfer_id: "tx_01h455vb4pex5vsknk084sn02t",
  metadata: { contract: "7781" },
  created_at: "2026-01-02T03:04:05.678Z",
  updated_at: "2026-01-02T03:04:05.678Z",
  cancelled_at: null
} as const
