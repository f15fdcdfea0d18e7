import type { Json, JsonObject } from '#model/definition'
import { isForbiddenKey, isObject } from '#model/json'
import type { Scope } from '../expressions.ts'
import { type Exit, ofOne } from '../flow.ts'
import { NotConvertible, NotFilled } from '../js-ast.ts'
import { celOut, fieldsOut, type Out, pathOut, quote, textOf } from '../out.ts'
import type { Attached, Place, Step } from '../step.ts'
import { media } from './media.ts'
import { toolsOf } from './tools.ts'
import { answeredFrom } from './vector-stores.ts'

// Chains and agents of LangChain as llm.generate, llm.extract and agent.run.

const listOf = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

const attachedOf = (step: Step, kind: string): Attached[] =>
  step.work.attached(step.node.name).filter((one) => one.kind === kind && !one.node.disabled)

/** The credential and the settings of the model below a node; which model is asked is the workspace's choice. */
function modelOf(step: Step): { args: JsonObject; credential: { name: string; kind: string } | undefined } {
  const model = attachedOf(step, 'ai_languageModel')[0]?.node ?? step.node
  const options = objectOf(model.parameters.options)
  const named = model.parameters.model ?? model.parameters.modelId ?? model.parameters.modelName
  const name = isObject(named) ? named.value : named
  if (typeof name === 'string' && name !== '')
    step.remark(
      `it asked the model ${name.replace(/^=/, '').slice(0, 60)}; here the model of the credential or of the service is asked`,
    )
  const temperature = Number(options.temperature)
  const [kind, credential] = Object.entries(model.credentials)[0] ?? []
  return {
    args: { ...(options.temperature !== undefined && temperature >= 0 && temperature <= 2 && { temperature }) },
    credential: kind === undefined || credential === undefined ? undefined : { name: credential, kind },
  }
}

function promptOf(step: Step, scope: Scope): Out {
  const { p } = step
  const isAuto =
    p.promptType === 'auto' || (p.promptType === undefined && p.text === undefined && p.prompt === undefined)
  return isAuto ? step.out('={{ $json.chatInput }}', scope, 'prompt') : step.out(p.text ?? p.prompt, scope, 'prompt')
}

const asText = (step: Step, of: Out): Json => step.guarded(of.path ? of : celOut(textOf(of), 'text'))

/** The messages of a chain: those of the system are instructions, the others follow the prompt. */
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

export function schemaOf(example: Json): JsonObject {
  if (Array.isArray(example)) return { type: 'array', ...(example.length > 0 && { items: schemaOf(example[0]!) }) }
  if (isObject(example))
    return {
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(example)
          .filter(([key]) => !isForbiddenKey(key))
          .map(([key, value]) => [key, schemaOf(value)]),
      ),
    }
  if (typeof example === 'number') return { type: 'number' }
  if (typeof example === 'boolean') return { type: 'boolean' }
  return { type: 'string' }
}

const parsed = (text: Json | undefined): Json | undefined => {
  if (typeof text !== 'string') return text
  try {
    return JSON.parse(text.replace(/^=/, '')) as Json
  } catch {
    return undefined
  }
}

/** The schema that a parser below the node wants the answer in. */
function wantedSchema(step: Step): JsonObject | undefined {
  if (step.p.hasOutputParser === false) return undefined
  let parser = attachedOf(step, 'ai_outputParser')[0]?.node
  if (parser?.type.endsWith('.outputParserAutofixing'))
    parser = step.work.attached(parser.name).find(({ kind }) => kind === 'ai_outputParser')?.node
  if (!parser) return undefined
  const { parameters: p } = parser
  if (parser.type.endsWith('.outputParserItemList'))
    return { type: 'object', properties: { items: { type: 'array', items: { type: 'string' } } } }
  const given = parsed(p.inputSchema ?? p.jsonSchema)
  const schema =
    p.schemaType === 'manual' || (p.jsonSchemaExample === undefined && isObject(given))
      ? given
      : schemaOf(parsed(p.jsonSchemaExample) ?? {})
  if (!isObject(schema)) throw new NotConvertible('the schema of its answer cannot be read')
  const plain = cleaned(schema) as JsonObject
  return plain.type === 'object' || plain.type === undefined
    ? plain
    : { type: 'object', properties: { items: plain }, required: ['items'] }
}

/** Without what our schemas do not know. */
function cleaned(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(cleaned)
  if (!isObject(schema)) return schema
  const known = Object.entries(schema).filter(
    ([key]) =>
      !isForbiddenKey(key) &&
      ![
        '$schema',
        '$id',
        'examples',
        'example',
        'nullable',
        'default',
        '$defs',
        'definitions',
        'format',
        'x-example',
      ].includes(key),
  )
  return Object.fromEntries(
    known.map(([key, value]) => [
      key,
      key === 'properties' && isObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cleaned(inner)]))
        : cleaned(value),
    ]),
  )
}

/** The answer as the item that n8n gives: the fields of a schema, or the text under a name. */
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

/** The nodes of OpenAI, Gemini and Anthropic that write text; pictures and sound are services. */
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
        : new NotConvertible('its prompt becomes too long for one expression')
    const instructions = joined(system)
    if (system.length > 0 && instructions === undefined)
      throw new NotConvertible('its instructions become too long for one expression')
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
    // Each vendor wraps the text in its own way, and expressions name the wrapping.
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

/** What was said before is state of the workflow, by session. */
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
    step.remark(`"${memory.name}" kept what was said in a database; here it is state of the workflow`)
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

/** Computed instructions, and a text after them. */
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

/** The answer to a question, from a knowledge base. Older versions wrap it once more. */
export function retrieval(step: Step): Exit[] {
  return step.each((at) => {
    const { p } = step
    const prompt = p.query === undefined ? promptOf(step, at.scope) : step.out(p.query, at.scope, 'query')
    const text = answeredFrom(step, at, prompt, modelOf(step))
    return fieldsOut({ response: { ...text, fields: { text } } })
  })
}

export function informationExtractor(step: Step): Exit[] {
  const { p } = step
  return step.each(({ scope, add }) => {
    const { args, credential } = modelOf(step)
    const attributes = listOf(objectOf(p.attributes).attributes)
    const types: Record<string, string> = { number: 'number', boolean: 'boolean' }
    const given =
      p.schemaType === 'manual'
        ? parsed(p.inputSchema)
        : p.schemaType === 'fromJson'
          ? schemaOf(parsed(p.jsonSchemaExample) ?? {})
          : undefined
    const schema = given ?? {
      type: 'object',
      properties: Object.fromEntries(
        attributes
          .filter(({ name }) => !isForbiddenKey(String(name)))
          .map((one) => [
            String(one.name),
            {
              type: types[String(one.type)] ?? 'string',
              ...(typeof one.description === 'string' && {
                description: one.description.replace(/^=/, '').slice(0, 1_000),
              }),
            },
          ]),
      ),
      required: attributes.filter(({ required }) => required === true).map(({ name }) => String(name)),
    }
    if (!isObject(schema)) throw new NotConvertible('its schema cannot be read')
    const instructions = objectOf(p.options).systemPromptTemplate
    const id = add(
      'llm.extract',
      {
        text: step.text(p.text, scope, 'text'),
        schema: cleaned(schema),
        ...(typeof instructions === 'string' && {
          instructions: step.text(instructions, scope, 'systemPromptTemplate'),
        }),
        ...args,
      },
      { credential },
    )
    return fieldsOut({ output: pathOut(['nodes', id, 'output', 'value']) })
  })
}

/** A model names a category for each item, and a branch, or a list for each category, leads on. */
function classified(
  step: Step,
  categories: { name: string; about: string }[],
  text: Json | undefined,
  what: string,
): Exit[] {
  const { input } = step
  const { args, credential } = modelOf(step)
  const about = categories.map(({ name, about: told }) => `${name}: ${told}`).join('\n')
  const asked = ({ scope, add }: Place): Out => {
    const id = add(
      'llm.extract',
      {
        text: step.text(text, scope, 'text'),
        schema: {
          type: 'object',
          properties: { category: { enum: categories.map(({ name }) => name) } },
          required: ['category'],
        },
        instructions: `${what}\n${about}`.slice(0, 8_000),
        ...args,
      },
      { credential },
    )
    return celOut(`nodes.${id}.output.value?.category.orValue("")`, 'text')
  }
  if (!input.one) {
    const [chosen] = step.each(asked)
    const values = Object.fromEntries(
      [...categories.map(({ name }) => quote(name)), undefined].map((name, at) => {
        const is = `${chosen!.list.cel}[?index_].orValue("")`
        const known = `[${categories.map((one) => quote(one.name)).join(', ')}]`
        const when = name === undefined ? `!(${is} in ${known})` : `${is} == ${name}`
        return [`port_${at + 1}`, { $cel: `${input.list.cel}.transformList(index_, x, ${when}, x)` }]
      }),
    )
    const id = step.add('set', { values })
    return Object.keys(values).map((key) => {
      const list: Out = { ...pathOut(['nodes', id, 'output', key]), type: 'list' }
      return step.exit({ list, same: step.passed().same }, { when: `size(${list.cel}) > 0` })
    })
  }
  const found = asked({ scope: step.scope(), add: (type, given, options) => step.add(type, given, options) })
  const cases = categories.map(({ name }, at) => ({
    port: `case_${at + 1}`,
    when: { $cel: `${found.cel} == ${quote(name)}` },
  }))
  const branch = step.add('branch', { cases })
  return [...cases.map(({ port }) => port), 'default'].map((port) => {
    const exit = step.exit(step.passed(), { port })
    return { ...exit, chosen: new Map([...exit.chosen, [branch, port]]) }
  })
}

export function textClassifier(step: Step): Exit[] {
  const categories = listOf(objectOf(step.p.categories).categories).map((one) => ({
    name: String(one.category ?? ''),
    about: String(one.description ?? '').replace(/^=/, ''),
  }))
  if (categories.length === 0 || categories.some(({ name }) => name === '' || name.startsWith('=')))
    throw new NotConvertible('its categories are computed')
  return classified(step, categories, step.p.inputText, 'Choose the category that the text belongs to.')
}

export function sentimentAnalysis(step: Step): Exit[] {
  const given = String(objectOf(step.p.options).categories ?? 'Positive, Neutral, Negative')
  const categories = given.split(',').map((name) => ({ name: name.trim(), about: '' }))
  return classified(step, categories, step.p.inputText, 'Choose the sentiment of the text.')
}

export function summarization(step: Step): Exit[] {
  if (step.p.operationMode === 'documentLoader' || step.p.operationMode === 'nodeInputBinary')
    throw new NotConvertible('it summarizes documents')
  const { args, credential } = modelOf(step)
  const list = step.input.one ? `json.encode(${step.input.one.cel})` : `json.encode(${step.input.list.cel})`
  const id = step.add(
    'llm.generate',
    { prompt: step.guarded(celOut(`"Write a concise summary of the following:\\n\\n" + ${list}`, 'text')), ...args },
    { credential },
  )
  const text = pathOut(['nodes', id, 'output', 'text'], 'any')
  return [step.exit(ofOne(fieldsOut({ output: fieldsOut({ text }), response: fieldsOut({ text }) })))]
}
