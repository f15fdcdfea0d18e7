import type { LanguageModel as SdkModel } from 'ai'
import { MINUTE } from '#platform/clock'
import { makeBoundedFetch } from '#platform/outgoing/bounded'
import { ModelProblem } from './problem.ts'

// The vendors. Each library is loaded at first use.

export type VendorName = 'openai' | 'anthropic' | 'google' | 'openai-compatible'

export type VendorSettings = {
  provider: VendorName
  model: string
  apiKey: string | null
  /** Includes `/v1`. Null means the vendor's own address. */
  baseUrl: string | null
  /**
   * Which of OpenAI's two protocols to use. The default is `responses` for OpenAI itself and `chat` for every other
   * address.
   */
  protocol?: 'responses' | 'chat'
  /** The function that sends requests. The default sends to the operator's own address. */
  fetch?: typeof globalThis.fetch
}

export const DEFAULT_ADDRESS: Record<VendorName, string> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  'openai-compatible': '',
}

const LARGEST_ANSWER = 16 * 1024 * 1024

/** A model name from a tenant becomes part of the path at some vendors. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:@+-]*(?:\/[A-Za-z0-9][A-Za-z0-9._:@+-]*){0,4}$/

export const isModelName = (name: string): boolean => name.length <= 128 && NAME.test(name) && !name.includes('..')

export const modelName = ({ provider, model }: VendorSettings): string => `${provider}/${model}`

export const openVendor = (settings: VendorSettings): ((model: string) => Promise<SdkModel>) => {
  const { provider, apiKey, baseUrl } = settings
  // The key and the address are always set, because otherwise the libraries read them from the environment.
  const common = {
    fetch: settings.fetch ?? guardedAnswer,
    apiKey: apiKey ?? 'none',
    baseURL: baseUrl ?? DEFAULT_ADDRESS[provider],
  }
  let opened: Promise<(model: string) => SdkModel> | undefined

  const open = async (): Promise<(model: string) => SdkModel> => {
    switch (provider) {
      case 'openai': {
        const openai = (await import('@ai-sdk/openai')).createOpenAI(common)
        const protocol = settings.protocol ?? (isOpenAi(baseUrl) ? 'responses' : 'chat')
        return protocol === 'responses' ? openai.responses : openai.chat
      }
      case 'anthropic':
        return (await import('@ai-sdk/anthropic')).createAnthropic(common)
      case 'google':
        return (await import('@ai-sdk/google')).createGoogle(common)
      case 'openai-compatible': {
        const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
        return createOpenAICompatible({
          fetch: common.fetch,
          name: 'compatible',
          baseURL: common.baseURL,
          ...(apiKey !== null && { apiKey }),
          supportsStructuredOutputs: true,
          includeUsage: true,
          metadataExtractor: refusals,
        })
      }
    }
  }

  return async (model) => {
    if (model === '')
      throw new ModelProblem(
        'model_name_invalid',
        'no model is chosen; choose one, or set default_model in the credential',
      )
    if (!isModelName(model)) throw new ModelProblem('model_name_invalid', 'the name of the model is not a valid one')
    opened ??= open()
    return (await opened)(model)
  }
}

const isOpenAi = (baseUrl: string | null): boolean => baseUrl === null || new URL(baseUrl).hostname === 'api.openai.com'

/** The library drops a refusal of a compatible server; this extractor preserves it. */
const refusals = {
  extractMetadata: async ({ parsedBody }: { parsedBody: unknown }) => ({
    heddle: { refused: typeof refusalIn(parsedBody) === 'string' },
  }),
  createStreamExtractor: () => {
    let refused = false
    return {
      processChunk: (chunk: unknown) => {
        refused ||= typeof refusalIn(chunk) === 'string'
      },
      buildMetadata: () => ({ heddle: { refused } }),
    }
  },
}

const refusalIn = (body: unknown): unknown => {
  const choice = (body as { choices?: { message?: Refusing; delta?: Refusing }[] } | null)?.choices?.[0]
  return (choice?.message ?? choice?.delta)?.refusal
}
type Refusing = { refusal?: unknown }

/** Longer than the timeout of a call, which has its own error message. */
const ANSWER_WITHIN = 10 * MINUTE

/**
 * The operator sets the address, so it may be private. The key is sent to no other host, and the response size is
 * limited.
 */
const guardedAnswer = makeBoundedFetch({ maxBytes: LARGEST_ANSWER, timeoutMs: ANSWER_WITHIN })
