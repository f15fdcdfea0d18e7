import type { Json } from '#model/definition'
import { isForbiddenKey, isObject } from '#model/json'
import { type Exit, ofOne } from '../flow.ts'
import { NotConvertible } from '../js-ast.ts'
import { listOf, objectOf } from '../lenient.ts'
import { celOut, fieldsOut, type Out, pathOut, quote } from '../out.ts'
import type { Place, Step } from '../step.ts'
import { cleaned, parsed, schemaOf } from './answer-schema.ts'
import { modelOf } from './language-model.ts'

// Nodes in which a model analyzes a text: its fields, its category, its sentiment, its summary.

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

/** Adds a model that chooses a category for each item, followed by a branch, or by a list for each category. */
function classified(
  step: Step,
  categories: { name: string; about: string }[],
  text: Json | undefined,
  what: string,
): Exit[] {
  const { input } = step
  const { args, credential } = modelOf(step)
  const about = categories.map(({ name, about: description }) => `${name}: ${description}`).join('\n')
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
    throw new NotConvertible('it summarises documents')
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
