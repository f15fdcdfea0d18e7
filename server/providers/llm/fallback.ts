import type { LanguageModel, Prompt } from './index.ts'
import { ModelProblem } from './problem.ts'

/** Codes that mean that the provider is unavailable, not that the request is wrong. */
const OUTAGES: ReadonlySet<string> = new Set(['provider_unavailable', 'provider_busy', 'model_timeout'])

/**
 * Calls the second model if the first is unavailable. A model name in the prompt applies only to the first; the second
 * uses its own default model.
 */
export function withFallback(first: LanguageModel, second: () => Promise<LanguageModel>): LanguageModel {
  const either = async <P extends Prompt, T>(
    prompt: P,
    ask: (model: LanguageModel, prompt: P) => Promise<T>,
  ): Promise<T> => {
    try {
      return await ask(first, prompt)
    } catch (error) {
      if (!(error instanceof ModelProblem) || !OUTAGES.has(error.code) || prompt.signal?.aborted) throw error
      const { model: _named, ...rest } = prompt
      return ask(await second(), rest as P)
    }
  }
  return {
    name: first.name,
    available: () => first.available(),
    generate: (prompt) => either(prompt, (model, same) => model.generate(same)),
    generateObject: (prompt) => either(prompt, (model, same) => model.generateObject(same)),
    turn: (prompt) => either(prompt, (model, same) => model.turn(same)),
  }
}
