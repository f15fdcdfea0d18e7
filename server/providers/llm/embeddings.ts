import { z } from 'zod'
import { ModelProblem } from './problem.ts'

// Vectors of texts, over the OpenAI-compatible protocol that most providers and local servers speak.

/** As many vectors of length one as there are texts. Throws ModelProblem, or the signal's reason when aborted. */
export type Embed = (texts: string[], signal?: AbortSignal) => Promise<Float32Array[]>

/** The same with the tokens of the texts, as the model counts them; null where it does not. */
export type AskVectors = (
  texts: string[],
  signal?: AbortSignal,
) => Promise<{ vectors: Float32Array[]; tokens: number | null }>

export const MAX_DIMENSIONS = 4_096

const Answer = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1).max(MAX_DIMENSIONS) })),
  usage: z
    .object({ prompt_tokens: z.number().optional().catch(undefined) })
    .optional()
    .catch(undefined),
})

export function makeAskVectors({
  fetch,
  address,
  model,
}: {
  fetch: typeof globalThis.fetch
  address: string
  model: string
}): AskVectors {
  const url = `${address.replace(/\/+$/, '')}/embeddings`
  return async (texts, signal) => {
    const response = await ask(fetch, url, { model, input: texts, encoding_format: 'float' }, signal)
    if (!response.ok) {
      await response.body?.cancel()
      throw problemOf(response.status)
    }
    const parsed = Answer.safeParse(await response.json().catch(() => undefined))
    if (!parsed.success) throw invalidAnswer()
    const vectors = new Array<Float32Array>(texts.length)
    for (const { index, embedding } of parsed.data.data) {
      if (index >= texts.length) throw invalidAnswer()
      vectors[index] = normalised(embedding)
    }
    const dimensions = vectors[0]?.length
    for (let at = 0; at < texts.length; at += 1) if (vectors[at]?.length !== dimensions) throw invalidAnswer()
    return { vectors, tokens: parsed.data.usage?.prompt_tokens ?? null }
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
  new ModelProblem('model_output_invalid', 'the embedding model did not answer with a vector for each text')

function problemOf(status: number): ModelProblem {
  if (status === 429) return new ModelProblem('provider_busy', 'the embedding model is busy')
  if (status >= 500) return new ModelProblem('provider_unavailable', `the embedding model answered with ${status}`)
  return new ModelProblem('provider_refused', `the embedding model refused the request with ${status}`)
}

function normalised(numbers: number[]): Float32Array {
  const length = Math.hypot(...numbers)
  return Float32Array.from(numbers, (number) => (length > 0 ? number / length : 0))
}
