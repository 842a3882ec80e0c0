/** The client for programs on Effect: the same contract, decoded and with typed errors. */
import { type Effect, Layer, Redacted } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { payingFetch, type PayingFetchOptions } from "./client.ts"

/** The API: every operation of the contract as an effect, by group. */
export interface Client extends HttpApiClient.ForApi<typeof Api> {}

export interface ClientOptions {
  /** Where the API is, such as `https://api.example.com`. */
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted<string>
}

/** The API of the Turnpike at `baseUrl`; sends its requests by the `HttpClient` it is given. */
export const make = (options: ClientOptions): Effect.Effect<Client, never, HttpClient.HttpClient> =>
  HttpApiClient.make(Api, {
    baseUrl: options.baseUrl,
    transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(Redacted.value(options.apiKey)))
  })

/** An `HttpClient` that pays what answers 402, by the rules of `payingFetch`. */
export const layerPaying = (options: PayingFetchOptions): Layer.Layer<HttpClient.HttpClient> =>
  FetchHttpClient.layer.pipe(Layer.provide(Layer.succeed(FetchHttpClient.Fetch, payingFetch(options))))
