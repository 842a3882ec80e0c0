/** The client for programs on Effect: the same contract, decoded and with typed errors. */
import { Layer, Redacted } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { payingFetch, type PayingFetchOptions } from "./payingFetch.ts"

/** Every operation of the API as an effect; sends its requests by the `HttpClient` it is given. */
export const make = (options: { readonly baseUrl: string; readonly apiKey: Redacted.Redacted<string> }) =>
  HttpApiClient.make(Api, {
    baseUrl: options.baseUrl,
    transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(Redacted.value(options.apiKey)))
  })

/** An `HttpClient` that pays what answers 402, by the rules of `payingFetch`. */
export const layerPaying = (options: PayingFetchOptions): Layer.Layer<HttpClient.HttpClient> =>
  FetchHttpClient.layer.pipe(Layer.provide(Layer.succeed(FetchHttpClient.Fetch, payingFetch(options))))
