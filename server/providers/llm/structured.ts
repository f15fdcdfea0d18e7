import type { Json } from '#model/definition'
import { measureJson } from '#model/json'
import { validateJson } from '#model/json-schema'
import { addUsage, type Finish, type Message, type ObjectPrompt, type Usage } from './index.ts'
import { ModelProblem } from './problem.ts'
import { readStorable } from './storable.ts'

// Gets a value of a given schema from a model. Some providers guarantee the schema and some ignore it, so our own
// validation decides.

export type RawAnswer = { text: string; finish: Finish; usage: Usage }

export const objectFrom = async (
  prompt: ObjectPrompt,
  ask: (messages: Message[]) => Promise<RawAnswer>,
): Promise<{ value: Json; usage: Usage }> => {
  const messages = [...prompt.messages]
  const repairs = prompt.repairs ?? 1
  let usage: Usage | undefined
  for (let round = 0; ; round += 1) {
    const answer = await ask(messages)
    usage = usage === undefined ? answer.usage : addUsage(usage, answer.usage)
    if (answer.finish === 'refused')
      throw new ModelProblem('model_refused', 'the language model refused to answer', { usage })
    if (answer.finish === 'length')
      throw new ModelProblem('model_output_invalid', `the answer was cut off at ${prompt.maxTokens} tokens`, { usage })
    const read = readObject(answer.text)
    const wrong = read === undefined ? ['it is not JSON'] : problemsOf(prompt.schema, read.value)
    if (read !== undefined && wrong.length === 0) return { value: read.value, usage }
    if (round >= repairs)
      throw new ModelProblem('model_output_invalid', `the answer does not fit the schema: ${wrong[0]}`, { usage })
    messages.push({ role: 'assistant', text: answer.text.slice(0, MAX_ECHO) || '(nothing)' })
    messages.push({
      role: 'user',
      text: `That answer cannot be used:\n${wrong.map((line) => `- ${line}`).join('\n')}\nAnswer again with the corrected JSON alone.`,
    })
  }
}

const MAX_ECHO = 20_000
const MAX_PROBLEMS = 8

const problemsOf = (schema: Json, value: Json): string[] =>
  validateJson(schema, value)
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => `${path === '' ? 'it' : path} ${message}`)

/** Returns the single JSON value of a response, with or without a code fence around it. */
const readObject = (text: string): { value: Json } | undefined => {
  const trimmed = text.trim()
  const fenced = /^```(?:json)?\s*\n([\s\S]*?)\n?```$/.exec(trimmed)
  try {
    const value = readStorable(fenced?.[1] ?? trimmed)
    return measureJson(value, { depth: 64, nodes: 100_000 }) === 'ok' ? { value } : undefined
  } catch {
    return undefined
  }
}
