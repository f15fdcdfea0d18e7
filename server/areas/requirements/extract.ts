import { CredentialRefused } from '#areas/credentials/use'
import type { ChooseModel } from '#engine/credentials'
import type { Json, JsonObject } from '#model/definition'
import { isObject, own } from '#model/json'
import { resolvePointer } from '#model/json-schema-index'
import type { Logger } from '#platform/log'
import type { Extraction, ExtractionRequest, Requirement } from '#providers/extraction/index'
import { extractByModel } from '#providers/extraction/model'
import { extractByRules } from '#providers/extraction/rules'
import type { LanguageModel } from '#providers/llm/index'
import { ModelProblem } from '#providers/llm/problem'

// Extracts values from a message: with the configured model, or with rules if there is no model or it does not answer.

/** The timeout of a model, after which the rules answer instead. */
const MODEL_TIME = 20_000

/** Which model to use: the workspace's model, or a named one, for a user. */
export type ModelSettings = {
  workspaceId: string
  userId: string | null
  credentialId?: string | undefined
  fallbackCredentialId?: string | undefined
  model?: string | undefined
  /** The conversation in which the model is used. */
  threadId?: string | undefined
}

export type ExtractValues = (
  request: ExtractionRequest & { modelSettings: ModelSettings; signal?: AbortSignal },
) => Promise<Extraction>

export type ExtractDependencies = { chooseModel: ChooseModel; log: Logger }

/** Returns the requested model, or undefined if there is none or it may not be used. Then rules answer. */
export async function modelFromSettings(
  { chooseModel, log }: ExtractDependencies,
  { workspaceId, userId, credentialId, fallbackCredentialId, model, threadId }: ModelSettings,
): Promise<LanguageModel | undefined> {
  try {
    const chosen = await chooseModel({
      workspaceId,
      principal: { userId },
      credentialId,
      fallbackCredentialId,
      threadId,
    })
    return chosen.available() === null ? withModel(chosen, model) : undefined
  } catch (error) {
    if (!(error instanceof CredentialRefused)) throw error
    log.warn({ code: error.code }, 'a message was read by rules: the credential of its language model cannot be used')
    return undefined
  }
}

export const extractByRulesAlone: ExtractValues = async ({
  modelSettings: _modelSettings,
  signal: _signal,
  ...request
}) => extractByRules(request)

export const makeExtract =
  (dependencies: ExtractDependencies): ExtractValues =>
  async ({ modelSettings, signal, ...request }) => {
    const chosen = request.message.trim() === '' ? undefined : await modelFromSettings(dependencies, modelSettings)
    if (chosen === undefined) return extractByRules(request)
    try {
      const { usage: _usage, ...extraction } = await extractByModel(chosen, { ...request, ...(signal && { signal }) })
      return extraction
    } catch (error) {
      if (!(error instanceof ModelProblem)) throw error
      dependencies.log.warn({ code: error.code }, 'a message was read by rules: the language model did not answer')
      return extractByRules(request)
    }
  }

/** Returns the model with another model name of the same provider, and with a short timeout. */
const withModel = (llm: LanguageModel, model: string | undefined): LanguageModel => {
  const more = { timeoutMs: MODEL_TIME, ...(model !== undefined && { model }) }
  return {
    ...llm,
    generate: (prompt) => llm.generate({ ...prompt, ...more }),
    generateObject: (prompt) => llm.generateObject({ ...prompt, ...more }),
    turn: (prompt) => llm.turn({ ...prompt, ...more }),
  }
}

/** Returns the inputs of a workflow as requirements, in the order in which their author wrote them. */
export function requirementsOf(inputs: Json): Requirement[] {
  if (!isObject(inputs)) return []
  const properties = own(inputs, 'properties')
  if (!isObject(properties)) return []
  const required = own(inputs, 'required')
  const needed = new Set(Array.isArray(required) ? required : [])
  return Object.entries(properties).map(([name, property]): Requirement => {
    const schema = dereferenced(inputs, property)
    const description = own(schema, 'description')
    return {
      name,
      schema,
      required: needed.has(name),
      ...(typeof description === 'string' && { description }),
    }
  })
}

function dereferenced(root: JsonObject, property: Json): JsonObject {
  if (!isObject(property)) return {}
  const reference = own(property, '$ref')
  if (typeof reference !== 'string') return property
  const target = resolvePointer(root, reference)
  const { $ref: _ref, ...rest } = property
  return isObject(target) && !Object.hasOwn(target, '$ref') ? { ...target, ...rest } : rest
}

/** Returns the defaults that the schemas define for missing values. */
export function defaultsOf(requirements: Requirement[]): JsonObject {
  return Object.fromEntries(
    requirements.flatMap(({ name, schema }) => {
      const value = schema && own(schema, 'default')
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
