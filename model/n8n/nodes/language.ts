import type { Json } from '#model/definition'
import { isObject } from '#model/json'
import type { Exit } from '../flow.ts'
import { NotConvertible, NotFilled } from '../js-ast.ts'
import { listOf, objectOf } from '../lenient.ts'
import { celOut, fieldsOut, type Out, pathOut, textOf } from '../out.ts'
import type { Scope } from '../scope.ts'
import type { Place, Step } from '../step.ts'
import { wantedSchema } from './answer-schema.ts'
import { asText, attachedOf, modelOf, promptOf } from './language-model.ts'
import { media } from './media.ts'
import { toolsOf } from './tools.ts'
import { answeredFrom } from './vector-stores.ts'

// LangChain chains and agents become llm.generate, llm.extract and agent.run.

/** Returns the messages of a chain: system messages are instructions, the others follow the prompt. */
function messagesOf(step: Step, scope: Scope): { system: string[]; others: string[] } {
  const { p } = step
  const list = listOf(
    objectOf(p.messages).messageValues ??
      objectOf(p.messages).values ??
      objectOf(p.prompt).messages ??
      objectOf(p.responses).values,
  )
  const texts = list.map((one) => ({
    role: String(one.type ?? one.role ?? 'user'),
    text: textOf(step.out(one.message ?? one.content, scope, 'message')),
  }))
  const isSystem = ({ role }: { role: string }): boolean => /system/i.test(role)
  return {
    system: texts.filter(isSystem).map(({ text }) => text),
    others: texts.filter((one) => !isSystem(one)).map(({ text }) => text),
  }
}

const joined = (parts: string[]): Json | undefined => {
  if (parts.length === 0) return undefined
  const cel = parts.join(' + "\\n\\n" + ')
  if (cel.length > 4_000) return undefined
  return { $cel: cel }
}

/** Returns the answer as the item that n8n returns: the fields of a schema, or the text under a name. */
function answered(
  step: Step,
  { add }: Place,
  text: Out,
  key: string,
  credential: { name: string; kind: string } | undefined,
  isFlat = false,
): Out {
  const schema = wantedSchema(step)
  if (!schema) return fieldsOut({ [key]: text })
  step.remark('its answer is read into the fields of the schema by a second node')
  const id = add('llm.extract', { text: step.guarded(text), schema }, { credential })
  const value = pathOut(['nodes', id, 'output', 'value'])
  return isFlat ? value : fieldsOut({ output: value })
}

export function chain(step: Step): Exit[] {
  return step.each((at) => {
    const { args, credential } = modelOf(step)
    const { system, others } = messagesOf(step, at.scope)
    const prompt = promptOf(step, at.scope)
    const whole =
      others.length === 0
        ? prompt.path || prompt.cel.length < 3_900
          ? asText(step, prompt)
          : step.text(step.p.text, at.scope, 'prompt')
        : (joined([textOf(prompt), ...others]) ?? step.text(step.p.text, at.scope, 'prompt'))
    const instructions = joined(system)
    const id = at.add(
      'llm.generate',
      { prompt: whole, ...(instructions !== undefined && { system: instructions }), ...args },
      { credential },
    )
    return answered(step, at, pathOut(['nodes', id, 'output', 'text'], 'any'), 'text', credential)
  })
}

/** Converts the nodes of OpenAI, Gemini and Anthropic that generate text; images and sound are services. */
export function message(step: Step): Exit[] {
  const { p } = step
  const resource = String(p.resource ?? 'text')
  const firsts: Record<string, string> = { audio: 'generate', image: 'generate', chat: 'complete' }
  const operation = String(p.operation ?? firsts[resource] ?? 'message')
  const made = media(step, resource, operation, modelOf(step).credential)
  if (made) return made
  if (
    !['text', 'chat', 'conversation'].includes(resource) ||
    !['message', 'response', 'complete', 'generate', 'create'].includes(operation)
  )
    throw new NotConvertible(
      `the operation "${resource} ${operation}" of ${step.node.type.split('.').at(-1)} has no counterpart`,
    )
  return step.each((at) => {
    const { args, credential } = modelOf(step)
    const tools = toolsOf(step, at, attachedOf(step, 'ai_tool'), step.work.convert)
    const { system, others } = messagesOf(step, at.scope)
    const options = objectOf(p.options)
    const more = options.systemMessage ?? options.system ?? options.instructions
    if (more !== undefined) system.unshift(textOf(step.out(more, at.scope, 'system')))
    const prompt =
      p.prompt === undefined || isObject(p.prompt) ? others : [textOf(step.out(p.prompt, at.scope, 'prompt'))]
    const whole = joined(prompt)
    if (whole === undefined)
      throw prompt.length === 0
        ? new NotFilled('it has no prompt')
        : new NotConvertible('its prompt is too long for one expression')
    const instructions = joined(system)
    if (system.length > 0 && instructions === undefined)
      throw new NotConvertible('its instructions are too long for one expression')
    const isAgent = tools.grants.length + tools.mcp.length > 0
    const id = isAgent
      ? at.add(
          'agent.run',
          {
            goal: whole,
            ...(instructions !== undefined && { instructions }),
            ...(tools.grants.length > 0 && { tools: tools.grants }),
            ...(tools.mcp.length > 0 && { mcp: tools.mcp }),
            ...args,
          },
          { credential, inside: tools.credentials },
        )
      : at.add(
          'llm.generate',
          { prompt: whole, ...(instructions !== undefined && { system: instructions }), ...args },
          { credential },
        )
    const text = pathOut(['nodes', id, 'output', isAgent ? 'answer' : 'text'], 'any')
    const content =
      p.jsonOutput === true || objectOf(p.options).textFormat !== undefined ? celOut(`json.decode(${text.cel})`) : text
    // Each vendor wraps the text differently, and expressions name the fields of the wrapping.
    const list = (inner: Out): Out => ({ cel: `[${inner.cel}]`, type: 'list', fields: { '0': inner } })
    const type = step.node.type.split('.').at(-1)
    if (type === 'googleGemini')
      return fieldsOut({
        content: fieldsOut({ parts: list(fieldsOut({ text: content })), role: celOut('"model"', 'text') }),
      })
    if (type === 'anthropic')
      return fieldsOut({ content: list(fieldsOut({ type: celOut('"text"', 'text'), text: content })) })
    if (resource === 'chat') return fieldsOut({ message: fieldsOut({ content, role: celOut('"assistant"', 'text') }) })
    return fieldsOut({
      message: fieldsOut({ content, role: celOut('"assistant"', 'text') }),
      content,
      text: content,
      output: list(fieldsOut({ content: list(fieldsOut({ text: content })) })),
    })
  })
}

type Memory = { before: string; keep(question: string, answer: string): void }

/** Stores earlier messages as state of the workflow, by session. */
function memoryOf(step: Step, { scope, add }: Place): Memory | undefined {
  const memory = attachedOf(step, 'ai_memory')[0]?.node
  if (!memory) return undefined
  const p = memory.parameters
  const session =
    p.sessionIdType === 'customKey' || p.sessionKey !== undefined
      ? step.out(p.sessionKey, scope, 'sessionKey')
      : step.out('={{ $json.sessionId }}', scope, 'sessionId')
  const key = { $cel: `"memory:" + sha256(${textOf(session)})` }
  const length = Math.min(50, Math.max(1, Number(p.contextWindowLength ?? 5) || 5))
  const read = add('state.get', { key, default: [] })
  if (!memory.type.endsWith('.memoryBufferWindow'))
    step.remark(
      `"${memory.name}" stored the conversation in a database; here the conversation is state of the workflow`,
    )
  const held = `nodes.${read}.output.value`
  return {
    before: `(size(${held}) == 0 ? "" : "What was said before:\\n" + ${held}.map(x, x.role + ": " + x.text).join("\\n") + "\\n\\nNow: ")`,
    keep: (question, answer) => {
      const more = `[{"role": "user", "text": ${question}}, {"role": "assistant", "text": ${answer}}]`
      add('state.set', {
        key,
        value: { $cel: `cel.bind(v, ${held} + ${more}, v.slice(math.greatest(0, size(v) - ${length * 2})))` },
      })
    },
  }
}

/** Returns computed instructions followed by a text. */
function withText(step: Step, { add }: Place, system: Json, list: string): Json {
  const id = add('set', { values: { text: system, tools: list } }, { isHelper: true })
  return step.guarded(celOut(`string(nodes.${id}.output.text) + "\\n\\n" + nodes.${id}.output.tools`, 'text'))
}

export function agent(step: Step): Exit[] {
  const { p } = step
  const options = objectOf(p.options)
  return step.each((at) => {
    const { scope, add } = at
    const { args, credential } = modelOf(step)
    const tools = toolsOf(step, at, attachedOf(step, 'ai_tool'), step.work.convert)
    const prompt = promptOf(step, scope)
    const memory = memoryOf(step, at)
    const goal = memory ? step.guarded(celOut(`${memory.before} + ${textOf(prompt)}`, 'text')) : asText(step, prompt)
    const system = step.text(options.systemMessage ?? p.systemMessage ?? '', scope, 'systemMessage')
    const list = tools.texts.length > 0 ? `Tools:\n${tools.texts.join('\n')}` : ''
    const said =
      list === ''
        ? system
        : typeof system === 'string'
          ? `${system}\n\n${list}`.trim()
          : withText(step, at, system, list)
    const steps = Number(options.maxIterations ?? 10)
    const id = add(
      'agent.run',
      {
        goal,
        ...(said !== '' && { instructions: said }),
        ...(tools.grants.length > 0 && { tools: tools.grants }),
        ...(tools.mcp.length > 0 && { mcp: tools.mcp }),
        ...(Number.isInteger(steps) && steps > 0 && { max_steps: Math.min(100, steps) }),
        ...args,
      },
      { credential, inside: tools.credentials },
    )
    const answer = pathOut(['nodes', id, 'output', 'answer'], 'any')
    memory?.keep(textOf(prompt), textOf(answer))
    return answered(step, at, answer, 'output', credential)
  })
}

/** Answers a question from a knowledge base. Older versions wrap the answer once more. */
export function retrieval(step: Step): Exit[] {
  return step.each((at) => {
    const { p } = step
    const prompt = p.query === undefined ? promptOf(step, at.scope) : step.out(p.query, at.scope, 'query')
    const text = answeredFrom(step, at, prompt, modelOf(step))
    return fieldsOut({ response: { ...text, fields: { text } } })
  })
}
