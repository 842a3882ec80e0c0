import { Schema, Struct } from "effect"
import { MerchantScan } from "./Scan.ts"
import { ShoppingTest } from "./ShoppingTest.ts"

/** What `scan.completed` carries: the scan without its checks and requests, which are read where it is. */
export const ScanFact = Schema.Struct(Struct.omit(MerchantScan.fields, ["checks", "requests"]))
const encodeScan = Schema.encodeSync(Schema.toCodecJson(ScanFact))
export const scanOnWire = (scan: MerchantScan) => encodeScan(scan)

/** What `test.completed` carries: the test without its requests. */
export const TestFact = Schema.Struct(Struct.omit(ShoppingTest.fields, ["requests"]))
const encodeTest = Schema.encodeSync(Schema.toCodecJson(TestFact))
export const testOnWire = (test: ShoppingTest) => encodeTest(test)
