import { MINUTE } from '#platform/clock'
import type { Config } from '#platform/config'
import { makeBoundedFetch } from '#platform/outgoing/bounded'
import { makeRequestVectors, type RequestVectors } from './embeddings.ts'
import { DEFAULT_ADDRESS, isModelName, type VendorName } from './vendors.ts'

/** The embedding model that the operator pays for. */
export type InstallationEmbeddings = {
  model: string
  /** `vendor/model`, as in the list of prices. */
  name: string
  ask: RequestVectors
}

type EmbeddingsConfig = Pick<
  Config,
  'LLM_PROVIDER' | 'LLM_API_KEY' | 'LLM_BASE_URL' | 'LLM_EMBEDDINGS_MODEL' | 'LLM_FOR_TENANTS'
>

const LARGEST_ANSWER = 64 * 1024 * 1024

/**
 * Returns null if the operator has set no model or does not offer models to tenants, or if the vendor has no embedding
 * models.
 */
export function makeInstallationEmbeddings(config: EmbeddingsConfig): InstallationEmbeddings | null {
  const { LLM_PROVIDER: provider, LLM_API_KEY: apiKey, LLM_BASE_URL: baseUrl, LLM_EMBEDDINGS_MODEL: model } = config
  if (model === null || provider === null || provider === 'anthropic' || config.LLM_FOR_TENANTS === 'closed')
    return null
  const address = baseUrl ?? DEFAULT_ADDRESS[provider]
  if (address === '' || !isModelName(model) || (apiKey === null && baseUrl === null)) return null
  const fetch = withKey(makeBoundedFetch({ maxBytes: LARGEST_ANSWER, timeoutMs: MINUTE }), provider, apiKey)
  return { model, name: `${provider}/${model}`, ask: makeRequestVectors({ fetch, address, model, provider }) }
}

const withKey =
  (fetch: typeof globalThis.fetch, provider: VendorName, apiKey: string | null): typeof globalThis.fetch =>
  (input, init) => {
    const headers = new Headers(init?.headers)
    if (apiKey !== null && provider === 'google') headers.set('x-goog-api-key', apiKey)
    else if (apiKey !== null) headers.set('authorization', `Bearer ${apiKey}`)
    return fetch(input, { ...init, headers })
  }
