import { existsSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { join } from 'node:path'
import type { InferenceSession, Tensor } from 'onnxruntime-node'

// Runs Moonshine tiny (27 M parameters, quantized, English) with the weights of its npm package: the encoder once, then
// a greedy decoder with a key-value cache.

const SAMPLE_RATE = 16_000
const SHORTEST = SAMPLE_RATE // padded with silence: the encoder needs some length
const TOKENS_PER_SECOND = 6
const [START, END] = [1, 2]
const [HEADS, HEAD_SIZE] = [8, 36]

/** The published package includes the weights, because the package that they come from has browser dependencies. */
const PACKAGED = join(import.meta.dirname, '..', '..', '..', 'models', 'moonshine-tiny')

export const modelPath = (name: 'encoder_model' | 'decoder_model_merged') => {
  if (existsSync(PACKAGED)) return join(PACKAGED, `${name}.onnx`)
  const manifest = findPackageJSON('@moonshine-ai/moonshine-js', import.meta.url)
  if (!manifest) throw new Error('@moonshine-ai/moonshine-js is not installed')
  return join(manifest, '..', 'dist', 'model', 'tiny', 'quantized', `${name}.onnx`)
}

export type TranscribeSamples = (samples: Float32Array) => Promise<string>

export const loadMoonshine = async (): Promise<TranscribeSamples> => {
  // The tokenizer reads its vocabulary on import, which takes a third of a second, so a server that never transcribes
  // does not import it.
  const [{ InferenceSession, Tensor }, { default: llamaTokenizer }] = await Promise.all([
    import('onnxruntime-node'),
    import('llama-tokenizer-js'),
  ])
  // One thread: two threads were slower on two busy cores (0.8 to 1.9 s against 0.5 s for 5 s of audio) and starve the
  // server.
  const options = { executionProviders: ['cpu'], intraOpNumThreads: 1, interOpNumThreads: 1 }
  const encoder = await InferenceSession.create(modelPath('encoder_model'), options)
  const decoder = await InferenceSession.create(modelPath('decoder_model_merged'), options)
  const cacheNames = decoder.inputNames.filter((name) => name.startsWith('past_key_values'))

  const emptyCache = (): Record<string, Tensor> =>
    Object.fromEntries(
      cacheNames.map((name) => [name, new Tensor('float32', new Float32Array(0), [0, HEADS, 1, HEAD_SIZE])]),
    )

  const nextCache = (cache: Record<string, Tensor>, output: InferenceSession.OnnxValueMapType, first: boolean) => {
    for (const name of cacheNames) {
      if (first || name.includes('.decoder.'))
        cache[name] = output[name.replace('past_key_values', 'present')] as Tensor
    }
  }

  return async (samples) => {
    const audio = new Float32Array(Math.max(samples.length, SHORTEST))
    audio.set(samples)
    const encoded = await encoder.run({ input_values: new Tensor('float32', audio, [1, audio.length]) })
    const longest = Math.ceil((samples.length / SAMPLE_RATE) * TOKENS_PER_SECOND) + 2
    const cache = emptyCache()
    const tokens = [START]
    while (tokens.length < longest) {
      const first = tokens.length === 1
      const output = await decoder.run({
        ...cache,
        input_ids: new Tensor('int64', BigInt64Array.of(BigInt(tokens.at(-1) as number)), [1, 1]),
        encoder_hidden_states: encoded.last_hidden_state as Tensor,
        use_cache_branch: new Tensor('bool', [!first]),
      })
      const token = likeliest((output.logits as Tensor).data as Float32Array)
      if (token === END) break
      tokens.push(token)
      nextCache(cache, output, first)
    }
    return llamaTokenizer.decode(tokens, true, true).trim()
  }
}

const likeliest = (logits: Float32Array): number => {
  let best = 0
  for (let i = 1; i < logits.length; i++) if ((logits[i] as number) > (logits[best] as number)) best = i
  return best
}
