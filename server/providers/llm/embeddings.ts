import { z } from 'zod'
import { ModelProblem } from './problem.ts'
import { isModelName, type VendorName } from './vendors.ts'

// Computes vectors of texts, over the OpenAI-compatible protocol that most providers and local servers support, and
// over Google's own protocol.

/** Returns one vector of length one per text. Throws ModelProblem, or the signal's reason when aborted. */
export type Embed = (texts: string[], signal?: AbortSignal) => Promise<Float32Array[]>

/** As `Embed`, with the number of tokens that the model reports for the texts. Null if the model reports none. */
export type RequestVectors = (
  texts: string[],
  signal?: AbortSignal,
) => Promise<{ vectors: Float32Array[]; tokens: number | null }>

export const MAX_DIMENSIONS = 4_096

const numbers = z.array(z.number()).min(1).max(MAX_DIMENSIONS)

type Protocol = {
  path(model: string): string
  body(model: string, texts: string[]): object
  /** Reads the vector of each text with the text's index. Undefined if the response is invalid. */
  read(answer: unknown): { vectors: [at: number, vector: number[]][]; tokens: number | null } | undefined
}

const Data = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: numbers })),
  usage: z
    .object({ prompt_tokens: z.number().optional().catch(undefined) })
    .optional()
    .catch(undefined),
})

const openai: Protocol = {
  path: () => 'embeddings',
  body: (model, texts) => ({ model, input: texts, encoding_format: 'float' }),
  read(answer) {
    const { data, success } = Data.safeParse(answer)
    if (!success) return undefined
    return {
      vectors: data.data.map(({ index, embedding }) => [index, embedding]),
      tokens: data.usage?.prompt_tokens ?? null,
    }
  },
}

const Batch = z.object({ embeddings: z.array(z.object({ values: numbers })) })

const google: Protocol = {
  path(model) {
    if (!isModelName(model)) throw new ModelProblem('model_name_invalid', 'is not a valid model name')
    return `models/${model}:batchEmbedContents`
  },
  body: (model, texts) => ({
    requests: texts.map((text) => ({ model: `models/${model}`, content: { parts: [{ text }] } })),
  }),
  read(answer) {
    const { data, success } = Batch.safeParse(answer)
    return success ? { vectors: data.embeddings.map(({ values }, at) => [at, values]), tokens: null } : undefined
  },
}

export function makeRequestVectors({
  fetch,
  address,
  model,
  provider = 'openai-compatible',
}: {
  fetch: typeof globalThis.fetch
  address: string
  model: string
  provider?: VendorName
}): RequestVectors {
  const protocol = provider === 'google' ? google : openai
  return async (texts, signal) => {
    const url = `${address.replace(/\/+$/, '')}/${protocol.path(model)}`
    const response = await ask(fetch, url, protocol.body(model, texts), signal)
    if (!response.ok) {
      await response.body?.cancel()
      throw problemOf(response.status)
    }
    const given = protocol.read(await response.json().catch(() => undefined))
    if (!given) throw invalidAnswer()
    const vectors = new Array<Float32Array>(texts.length)
    for (const [at, vector] of given.vectors) {
      if (at >= texts.length) throw invalidAnswer()
      vectors[at] = normalised(vector)
    }
    const dimensions = vectors[0]?.length
    for (let at = 0; at < texts.length; at += 1) if (vectors[at]?.length !== dimensions) throw invalidAnswer()
    return { vectors, tokens: given.tokens }
  }
}

async function ask(
  fetch: typeof globalThis.fetch,
  url: string,
  body: object,
  signal: AbortSignal | undefined,
): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })
  } catch {
    signal?.throwIfAborted()
    throw new ModelProblem('provider_unavailable', 'the embedding model could not be reached')
  }
}

const invalidAnswer = (): ModelProblem =>
  new ModelProblem('model_output_invalid', 'the embedding model did not return a vector for each text')

function problemOf(status: number): ModelProblem {
  if (status === 429) return new ModelProblem('provider_busy', 'the embedding model is busy')
  if (status >= 500) return new ModelProblem('provider_unavailable', `the embedding model answered with ${status}`)
  return new ModelProblem('provider_refused', `the embedding model refused the request with ${status}`)
}

function normalised(vector: number[]): Float32Array {
  const length = Math.hypot(...vector)
  return Float32Array.from(vector, (number) => (length > 0 ? number / length : 0))
}
