import type { Config } from '#platform/config'
import type { CallLimits } from './calls.ts'
import type { LanguageModel, Prompt } from './index.ts'
import { ModelProblem } from './problem.ts'
import { isModelName, modelName, type VendorSettings } from './vendors.ts'

type LlmConfig = Pick<Config, 'LLM_PROVIDER' | 'LLM_MODEL' | 'LLM_API_KEY' | 'LLM_BASE_URL'> &
  Partial<Pick<Config, 'LLM_MODELS'>>

/**
 * Returns the language model of this installation, or a model whose calls fail with the reason why none is configured.
 */
export const makeLanguageModel = (config: LlmConfig, limits: Partial<CallLimits> = {}): LanguageModel => {
  const { LLM_PROVIDER: provider, LLM_MODEL: model, LLM_API_KEY: apiKey, LLM_BASE_URL: baseUrl } = config
  const reason = whyNot(config)
  if (reason !== null || provider === null || model === null) return absentModel(reason ?? '')
  return onlyAllowed(lazyModel({ provider, model, apiKey, baseUrl }, limits), [model, ...(config.LLM_MODELS ?? ['*'])])
}

/** The operator pays for the models, so a tenant can only name models that the operator allows. */
function onlyAllowed(llm: LanguageModel, allowed: readonly string[]): LanguageModel {
  if (allowed.includes('*')) return llm
  const allow = <P extends Prompt>(prompt: P): P => {
    const { model } = prompt
    if (model !== undefined && isModelName(model) && !allowed.includes(model))
      throw new ModelProblem(
        'model_not_allowed',
        `The operator of this installation does not allow the model ${model.slice(0, 100)}.`,
      )
    return prompt
  }
  return {
    ...llm,
    generate: async (prompt) => llm.generate(allow(prompt)),
    generateObject: async (prompt) => llm.generateObject(allow(prompt)),
    turn: async (prompt) => llm.turn(allow(prompt)),
  }
}

/** Loads the libraries with the first call (0.3 s and 10 MB), because most processes never make a call. */
export const lazyModel = (settings: VendorSettings, limits: Partial<CallLimits>): LanguageModel => {
  let loading: Promise<LanguageModel> | undefined
  const load = (): Promise<LanguageModel> => {
    loading ??= import('./sdk.ts').then(({ makeSdkModel }) => makeSdkModel(settings, limits))
    return loading
  }
  return {
    name: modelName(settings),
    available: () => null,
    generate: async (prompt) => (await load()).generate(prompt),
    generateObject: async (prompt) => (await load()).generateObject(prompt),
    turn: async (prompt) => (await load()).turn(prompt),
  }
}

const whyNot = ({ LLM_PROVIDER, LLM_MODEL, LLM_API_KEY, LLM_BASE_URL }: LlmConfig): string | null => {
  if (LLM_PROVIDER === null) return 'No language model is configured; set LLM_PROVIDER, LLM_MODEL and LLM_API_KEY.'
  if (LLM_MODEL === null) return 'No language model is configured; set LLM_MODEL.'
  if (!isModelName(LLM_MODEL)) return 'LLM_MODEL is not the name of a model.'
  if (LLM_PROVIDER === 'openai-compatible' && LLM_BASE_URL === null)
    return 'The address of the language model is not set; set LLM_BASE_URL, with /v1.'
  if (LLM_API_KEY === null && LLM_BASE_URL === null) return 'The key of the language model is not set; set LLM_API_KEY.'
  return null
}

export const absentModel = (reason: string): LanguageModel => {
  const refuse = async () => {
    throw new ModelProblem('provider_not_configured', reason)
  }
  return { name: 'none', available: () => reason, generate: refuse, generateObject: refuse, turn: refuse }
}

/** Returns the installation's own model, unless the operator does not offer it to tenants. */
export const modelForTenants = (model: LanguageModel, open: boolean): LanguageModel =>
  open
    ? model
    : absentModel('No language model is set. Store a credential of kind llm and choose it for the workspace.')
