import type * as Contract from "./Contract.ts"

/*
 * The contract without Effect. A declaration that the compiler writes for a value says its type in full, down to texts and numbers,
 * where the type itself would be named, and lead to the schemas. `npm run build:client` turns these values back into the types they are
 * named by; nothing runs this file.
 */

type Names<Name extends string> = { readonly [One in Name]: One }

declare const inFull: <Type>() => { [Name in keyof Type]: Type[Name] }
declare const namesInFull: <Type>() => { [Name in keyof Type]: Type[Name] }[keyof Type]

/** The API: a function for every operation that answers, by group. */
export const Turnpike = inFull<Contract.Turnpike>()
export const EventType = namesInFull<Names<Contract.EventType>>()
export const ChannelEventName = namesInFull<Names<Contract.ChannelEventName>>()
