import { callTools, type FakeAnswer, say } from './answers.ts'
import type { Asked } from './chat.ts'

// A model that obeys everything it reads: for every text DO name {arguments} END it calls that tool, and at the end it
// repeats its whole input. A rule that a test proves with this model does not depend on the judgement of a model.

const order = /DO ([\w.]+) (\{.*?\}) END/g

type Calls = { tool_calls?: { function: { name: string; arguments: string } }[] }

/**
 * Calls each tool that any input text orders, including descriptions of tools, once; then answers with its whole input.
 */
export function obey(asked: Asked): FakeAnswer {
  const done = new Set(
    (asked.body.messages as Calls[]).flatMap(({ tool_calls = [] }) =>
      tool_calls.map(({ function: { name, arguments: args } }) => `${name} ${args}`),
    ),
  )
  const said = [asked.system, ...asked.messages.map(({ text }) => text)].join('\n')
  const texts = `${said}\n${JSON.stringify(asked.body.tools ?? [])}`.replaceAll('\\"', '"')
  const wanted = [...texts.matchAll(order)].map(([, name, args]) => ({ name: name!, arguments: JSON.parse(args!) }))
  const fresh = wanted.filter((call) => !done.has(`${call.name} ${JSON.stringify(call.arguments)}`))
  const once = [...new Map(fresh.map((call) => [JSON.stringify(call), call])).values()]
  return once.length > 0 ? callTools(once) : say(said.replaceAll('\\"', '"').slice(0, 7_000))
}
