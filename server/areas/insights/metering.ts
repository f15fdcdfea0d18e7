import { notifySpent, Reservations, reserve } from '#areas/budgets/spending'
import type { ChooseModel } from '#engine/credentials'
import type { Database } from '#platform/db/pool'
import { newId } from '#platform/ids'
import type { Logger } from '#platform/log'
import type { Embed, RequestVectors } from '#providers/llm/embeddings'
import type { LanguageModel, Prompt, Usage } from '#providers/llm/index'
import { costOf, namesOf, type Price, shippedPrice } from '#providers/llm/prices'
import { ModelProblem } from '#providers/llm/problem'
import { findOwnPrice, insertModelCall } from './ledger-store.ts'

// Every response of a language model is counted when it arrives, for all callers: nodes, agents, reviewers of gates,
// conversations. The row is written before the response is passed on, so that an execution never shows less than it has
// spent.

/** The caller of a model. The workflow and the person are in the row of the execution. */
export type Asker = Pick<Parameters<ChooseModel>[0], 'workspaceId' | 'principal' | 'nodePath' | 'threadId'> & {
  /** Null for the installation's own model. */
  credentialId: string | null
}

export type WatchModel = (llm: LanguageModel, asker: Asker) => LanguageModel

/** Returns `vendor/model` of the requested model. */
const askedModel = (llm: LanguageModel, { model }: Prompt): string =>
  model === undefined ? llm.name : `${llm.name.split('/')[0]}/${model}`

const MAX_COUNT = 1e12
const MAX_COST = 1e6

/** The servers of tenants can report any usage, so negative and absurd values are ignored. */
function plausibleUsage(usage: Usage): Usage {
  const count = (tokens: number): number => (tokens > 0 ? Math.min(MAX_COUNT, Math.round(tokens)) : 0)
  const { cost, ...rest } = usage
  const isCost = cost !== undefined && cost >= 0 && cost <= MAX_COST
  return {
    ...rest,
    input_tokens: count(usage.input_tokens),
    output_tokens: count(usage.output_tokens),
    ...(isCost && { cost }),
  }
}

const CHARACTERS_A_TOKEN = 4
const TOKENS_AN_IMAGE = 1_500

/** Estimates the tokens of the prompt, plus the maximum tokens of the response. */
function mostTokens({ system = '', messages, maxTokens, ...more }: Prompt): Usage {
  const schema = 'schema' in more ? JSON.stringify(more.schema) : ''
  const tools = 'tools' in more ? JSON.stringify(more.tools) : ''
  let characters = system.length + schema.length + tools.length
  let images = 0
  for (const message of messages) {
    characters += message.text.length
    if (message.role === 'user') images += message.images?.length ?? 0
    if (message.role === 'assistant' && message.tool_calls) characters += JSON.stringify(message.tool_calls).length
  }
  return {
    input_tokens: Math.ceil(characters / CHARACTERS_A_TOKEN) + images * TOKENS_AN_IMAGE,
    output_tokens: maxTokens,
  }
}

const spenderOf = ({ principal, credentialId }: Asker) => ({
  executionId: 'executionId' in principal ? principal.executionId : null,
  spender: { workflowId: null, personId: 'userId' in principal ? principal.userId : null, credentialId },
})

export type WatchEmbed = (ask: RequestVectors, asker: Asker & { model: string }) => Embed

/** Wraps models, so that they respect budgets and their usage is counted: language models and embedding models. */
export function makeWatchModel({ db, log }: { db: Database; log: Logger }): { model: WatchModel; embed: WatchEmbed } {
  const reservations = new Reservations()

  const priceOf = async (model: string): Promise<Price | undefined> =>
    (await findOwnPrice(db, namesOf(model))) ?? shippedPrice(model)

  async function priced(model: string, usage: Usage): Promise<Usage> {
    if (usage.cost !== undefined) return usage
    const price = await priceOf(model)
    return price ? { ...usage, cost: costOf(usage, price) } : usage
  }

  const hold = (asker: Asker, model: string, most: Usage): Promise<() => void> =>
    db.tenant({ workspaceId: asker.workspaceId, userId: null }, (tx) =>
      reserve(tx, reservations, {
        workspaceId: asker.workspaceId,
        ...spenderOf(asker),
        couldCost: async () => {
          const price = await priceOf(model)
          return price ? costOf(most, price) : 0
        },
      }),
    )

  /** If the ledger cannot be written, the response is still returned, because it was paid for. */
  async function count(asker: Asker, model: string, told: Usage): Promise<Usage> {
    const usage = plausibleUsage(told)
    try {
      const counted = await priced(model, usage)
      const { workspaceId } = asker
      const { executionId, spender } = spenderOf(asker)
      await db.tenant({ workspaceId, userId: null }, async (tx) => {
        await insertModelCall(tx, workspaceId, {
          callId: newId(),
          executionId,
          nodePath: asker.nodePath ?? null,
          threadId: asker.threadId ?? null,
          personId: spender.personId,
          credentialId: asker.credentialId,
          model: model.slice(0, 200),
          usage: counted,
        })
        await notifySpent(tx, { workspaceId, executionId, spender })
      })
      return counted
    } catch (error) {
      log.warn({ err: error, workspace_id: asker.workspaceId }, 'the usage of a language model could not be stored')
      return usage
    }
  }

  const watchModel: WatchModel = (llm, asker) => {
    const watched = async <T extends { usage: Usage }>(prompt: Prompt, ask: () => Promise<T>): Promise<T> => {
      const model = askedModel(llm, prompt)
      const release = await hold(asker, model, mostTokens(prompt))
      try {
        const answer = await ask()
        return { ...answer, usage: await count(asker, model, answer.usage) }
      } catch (error) {
        if (error instanceof ModelProblem && error.usage) await count(asker, model, error.usage)
        throw error
      } finally {
        release()
      }
    }
    return {
      ...llm,
      generate: (prompt) => watched(prompt, () => llm.generate(prompt)),
      generateObject: (prompt) => watched(prompt, () => llm.generateObject(prompt)),
      turn: (prompt) => watched(prompt, () => llm.turn(prompt)),
    }
  }

  const watchEmbed: WatchEmbed = (ask, asker) => async (texts, signal) => {
    const estimated = Math.ceil(texts.reduce((sum, text) => sum + text.length, 0) / CHARACTERS_A_TOKEN)
    const release = await hold(asker, asker.model, { input_tokens: estimated, output_tokens: 0 })
    try {
      const { vectors, tokens } = await ask(texts, signal)
      const usage = {
        input_tokens: tokens ?? estimated,
        output_tokens: 0,
        ...(tokens === null && { estimated: true as const }),
      }
      await count(asker, asker.model, usage)
      return vectors
    } finally {
      release()
    }
  }

  return { model: watchModel, embed: watchEmbed }
}
