import type { Schema } from "effect"
import type { HttpApi, HttpApiEndpoint } from "effect/http-api"
import type { Api } from "#api/Api.ts"
import type { JsonValue } from "./Encoding.ts"
import type { CallOptions } from "./Transport.ts"

// All that the client knows of the contract passes through this file, which ContractInFull.ts writes out for the package.
export type { ChannelEventName } from "#domain/Channel.ts"
export type { EventType } from "#domain/Event.ts"

type Groups = typeof Api extends HttpApi.HttpApi<infer _Id, infer Found> ? Found : never
type Endpoints<Group> = Group extends { readonly endpoints: infer Found } ? Found : never

/** The groups of the contract, by name. */
type Contract = { readonly [Group in Groups as Group["identifier"]]: Endpoints<Group> }

/** Operations that have no answer, because it never ends: `agentChannel` is for them. */
type Endless = "agent_channel.connect"

/** The names of the operations of a group that answer. */
type Answering<Group extends keyof Contract> = {
  [Name in keyof Contract[Group]]: `${Group}.${Name & string}` extends Endless ? never : Name
}[keyof Contract[Group]]

type IsAny<Type> = 0 extends 1 & Type ? true : false

/** Whether any JSON may be there. Its type contains itself, and would be written out without end. */
type IsJson<Encoded> = unknown extends Encoded ? false : [Schema.Json] extends [Encoded] ? true : false

type Field<Type, Name extends PropertyKey> = Type extends { [_ in Name]?: infer Decoded } ? Decoded : unknown

/** What travels: the encoded side of a schema, where an amount that decodes from anything is a decimal string. */
type Wire<Type, Encoded> =
  IsAny<Encoded> extends true
    ? [Type] extends [bigint | undefined]
      ? string
      : unknown
    : IsJson<Encoded> extends true
      ? JsonValue
      : Encoded extends bigint | Date
        ? string
        : Encoded extends ReadonlyArray<infer Item>
          ? ReadonlyArray<Wire<Type extends ReadonlyArray<infer Decoded> ? Decoded : unknown, Item>>
          : Encoded extends object
            ? {
                [Name in keyof Encoded]: Wire<Field<NonNullable<Type>, Name>, Encoded[Name]>
              }
            : Encoded

/** The schema as it was written, without the codec that the contract wraps it in. */
type Written<Codec> = Codec extends Schema.toCodecJson<infer Inner> | Schema.toCodecStringTree<infer Inner>
  ? Inner
  : Codec

type WireOf<Codec> =
  Written<Codec> extends { readonly Type: infer Type; readonly Encoded: infer Encoded } ? Wire<Type, Encoded> : never

type Nothing = Record<never, never>

/** One part of a request; it may be left out where everything in it may. */
type Part<Name extends string, Codec> = [Codec] extends [never]
  ? unknown
  : Nothing extends WireOf<Codec>
    ? { readonly [_ in Name]?: WireOf<Codec> }
    : { readonly [_ in Name]: WireOf<Codec> }

/** What an operation takes, as it travels. */
type Taken<Endpoint extends HttpApiEndpoint.ConstraintRequest> = Part<"params", Endpoint["~Params"]> &
  Part<"query", Endpoint["~Query"]> &
  Part<"headers", Endpoint["~Headers"]> &
  Part<"payload", Endpoint["~Payload"]>

/** What an operation answers, as it travels. */
type Answered<Endpoint extends HttpApiEndpoint.ConstraintRequest> = WireOf<Endpoint["~Success"]>

type Arguments<Request> = Nothing extends Request
  ? [request?: Request, options?: CallOptions]
  : [request: Request, options?: CallOptions]

/** A list can be read to its end: pages are fetched as they are needed. */
type Listing<Request, Answer> = Answer extends { readonly data: ReadonlyArray<infer Item>; readonly pagination: object }
  ? { all(...args: Arguments<Request>): AsyncIterable<Item> }
  : unknown

type Method<Endpoint> = Endpoint extends HttpApiEndpoint.ConstraintRequest
  ? ((...args: Arguments<Taken<Endpoint>>) => Promise<Answered<Endpoint>>) &
      Listing<Taken<Endpoint>, Answered<Endpoint>>
  : never

/** The API: a function for every operation of the contract that answers, by group. */
export type Turnpike = {
  readonly [Group in keyof Contract]: { readonly [Name in Answering<Group>]: Method<Contract[Group][Name]> }
}
