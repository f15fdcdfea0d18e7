import type { Json, JsonObject } from '#model/definition'
import { isExpression } from '#model/expressions'
import { isObject } from '#model/json'
import { type Exit, outputOf } from '../flow.ts'
import { NotConvertible } from '../js-ast.ts'
import { listOf } from '../lenient.ts'
import { celOut, type Out, textOf } from '../out.ts'
import type { Scope } from '../scope.ts'
import type { Place, Step } from '../step.ts'
import { addCall, chosen } from './service-call.ts'

// Notion: properties and blocks of pages, and pages in the simplified form of n8n.

const SERVICE = 'notion'
const rich = (content: Json): Json => [{ type: 'text', text: { content } }]

/** Returns the id inside an address, or the id itself. */
const idOf = (step: Step, raw: Json | undefined, scope: Scope): Json => {
  const value = chosen(raw)
  const found =
    typeof value === 'string' && !value.startsWith('=') ? /([0-9a-f]{32})(?:\?|$)/.exec(value)?.[1] : undefined
  return found ?? step.text(value, scope, 'id')
}

/** Converts a list, or a text with commas, to a list of objects. */
function several(step: Step, raw: Json | undefined, scope: Scope, key: 'name' | 'id'): Json {
  if (Array.isArray(raw)) return raw.filter((one) => one !== '').map((one) => ({ [key]: step.value(one, scope, key) }))
  if (typeof raw !== 'string' || raw === '') return []
  if (!raw.startsWith('=')) return raw.split(',').map((one) => ({ [key]: one.trim() }))
  const of = step.out(raw, scope, key)
  return step.guarded(
    celOut(
      `(type(${of.cel}) == list ? ${of.cel} : ${textOf(of)}.split(",")).map(x, {${JSON.stringify(key)}: string(x).trim()})`,
      'list',
    ),
  )
}

function numberValue(step: Step, raw: Json | undefined, scope: Scope): Json {
  const value = step.value(raw ?? null, scope, 'number')
  return typeof value === 'string' && Number.isFinite(Number(value)) ? Number(value) : value
}

function dateValue(step: Step, one: JsonObject, scope: Scope): Json {
  const day = (raw: Json | undefined): Json => {
    const of = step.out(raw, scope, 'date')
    if (typeof raw === 'string' && !raw.startsWith('='))
      return one.includeTime === false ? raw.slice(0, 10) : step.text(raw, scope, 'date')
    const text = of.type === 'time' ? `string(${of.cel})` : textOf(of)
    return step.guarded(celOut(one.includeTime === false ? `${text}.split("T")[0]` : text, 'text'))
  }
  if (one.range === true) return { start: day(one.dateStart), end: day(one.dateEnd) }
  return { start: day(one.date) }
}

function propertyOf(step: Step, one: JsonObject, kind: string, scope: Scope): Json {
  const text = (raw: Json | undefined): Json => step.text(raw ?? '', scope, 'property')
  switch (kind) {
    case 'title':
      return { title: rich(text(one.title)) }
    case 'rich_text':
      return { rich_text: rich(text(one.textContent ?? one.text)) }
    case 'number':
      return { number: numberValue(step, one.numberValue, scope) }
    case 'select':
      return { select: { name: text(one.selectValue) } }
    case 'status':
      return { status: { name: text(one.statusValue) } }
    case 'multi_select':
      return { multi_select: several(step, one.multiSelectValue, scope, 'name') }
    case 'checkbox':
      return { checkbox: step.value(one.checkboxValue ?? false, scope, 'checkbox') }
    case 'url':
      return { url: text(one.urlValue) }
    case 'email':
      return { email: text(one.emailValue) }
    case 'phone_number':
      return { phone_number: text(one.phoneValue) }
    case 'relation':
      return { relation: several(step, one.relationValue, scope, 'id') }
    case 'people':
      return { people: several(step, one.peopleValue, scope, 'id') }
    case 'date':
      return { date: dateValue(step, one, scope) }
    case 'files': {
      const files = listOf(isObject(one.fileUrls) ? one.fileUrls.fileUrl : undefined)
      return { files: files.map(({ name, url }) => ({ name: text(name), external: { url: text(url) } })) }
    }
    default:
      throw new NotConvertible(`notion: properties of the kind "${kind.slice(0, 30)}" are not mapped`)
  }
}

function propertiesOf(step: Step, scope: Scope): JsonObject {
  const { p } = step
  const properties: JsonObject = {}
  if (p.title !== undefined && p.title !== '') properties.title = { title: rich(step.text(p.title, scope, 'title')) }
  for (const one of listOf(isObject(p.propertiesUi) ? p.propertiesUi.propertyValues : undefined)) {
    const key = String(one.key ?? '')
    if (key.startsWith('=')) throw new NotConvertible('notion: the name of a property is computed')
    const at = key.lastIndexOf('|')
    if (at > 0) properties[key.slice(0, at)] = propertyOf(step, one, key.slice(at + 1), scope)
  }
  return properties
}

function blocksOf(step: Step, scope: Scope): Json[] {
  const held = isObject(step.p.blockUi) ? listOf(step.p.blockUi.blockValues) : []
  return held.map((one) => {
    const type = String(one.type ?? 'paragraph')
    if (type === 'image')
      return { object: 'block', type, image: { type: 'external', external: { url: step.text(one.url, scope, 'url') } } }
    const parts = isObject(one.text) ? listOf(one.text.text) : []
    const content =
      one.richText === true && parts.length > 0
        ? parts.map((part) => ({ type: 'text', text: { content: step.text(part.text ?? '', scope, 'text') } }))
        : rich(step.text(one.textContent ?? '', scope, 'textContent'))
    return {
      object: 'block',
      type,
      [type]: { rich_text: content, ...(type === 'to_do' && { checked: one.checked === true }) },
    }
  })
}

/** Converts pages to the default form of n8n: id, name, url and `property_…`. */
const PLAIN = `const textOf = (list) => (list ?? []).map((one) => one.plain_text ?? one.text?.content ?? '').join('')
const valueOf = (property) => {
  const value = property[property.type]
  switch (property.type) {
    case 'title': case 'rich_text': return textOf(value)
    case 'select': case 'status': return value?.name ?? null
    case 'multi_select': return value.map((one) => one.name)
    case 'people': return value.map((one) => one.person?.email ?? one.id)
    case 'relation': return value.map((one) => one.id)
    case 'files': return value.map((one) => one.external?.url ?? one.file?.url)
    case 'formula': return value?.[value.type] ?? null
    case 'rollup': return value?.type === 'array' ? value.array.map(valueOf) : value?.[value.type]
    case 'created_by': case 'last_edited_by': return value?.id ?? null
    case 'unique_id': return value ? (value.prefix ? value.prefix + '-' : '') + value.number : null
    default: return value
  }
}
const key = (name) => 'property_' + name.toLowerCase().replace(/[^\\\\p{L}\\\\p{N}]+/gu, '_').replace(/^_+|_+$/g, '')
const plain = (page) => {
  if (!page?.properties) return page
  const properties = Object.entries(page.properties)
  const title = properties.find(([, one]) => one.type === 'title')?.[1]
  return { id: page.id, name: title ? textOf(title.title) : '', url: page.url, ...Object.fromEntries(properties.map(([name, one]) => [key(name), valueOf(one)])) }
}
`

function plainly(step: Step, { add }: Place, id: string, isList: boolean): Out {
  const pages: Json = { $ref: isList ? `nodes.${id}.output.items` : `nodes.${id}.output` }
  if (step.p.simple === false) return isList ? { ...celOut(`nodes.${id}.output.items`, 'list') } : outputOf(id)
  const source = `${PLAIN}return ${isList ? 'input.map(plain)' : 'plain(input)'}`.replaceAll('\\\\p', '\\p')
  return outputOf(add('code', { input: pages, source }))
}

/** Returns conditions given as JSON, or set in the form for some types. */
function filterOf(step: Step, scope: Scope): Json | undefined {
  const { p } = step
  if (p.filterType === 'json') {
    const value = step.value(p.filterJson ?? '', scope, 'filterJson')
    if (isExpression(value))
      return step.guarded(celOut(`json.decode(${step.out(p.filterJson, scope, 'filterJson').cel})`))
    try {
      return typeof value === 'string' && value !== '' ? (JSON.parse(value) as Json) : undefined
    } catch {
      throw new NotConvertible('notion: its filter cannot be read')
    }
  }
  const conditions = isObject(p.filters) ? listOf(p.filters.conditions) : []
  if (p.filterType !== 'manual' || conditions.length === 0) return undefined
  const made = conditions.map((one) => {
    const [name = '', kind = ''] = String(one.key ?? '').split(/\|(?=[^|]*$)/)
    const condition = String(one.condition ?? 'equals')
    const fields: Record<string, string> = {
      title: 'titleValue',
      rich_text: 'richTextValue',
      select: 'selectValue',
      status: 'statusValue',
      number: 'numberValue',
      checkbox: 'checkboxValue',
      date: 'date',
      url: 'urlValue',
      email: 'emailValue',
      multi_select: 'multiSelectValue',
      relation: 'relationValue',
    }
    if (fields[kind] === undefined)
      throw new NotConvertible(`notion: a condition over "${kind.slice(0, 30)}" is not mapped`)
    const isBare = /^(is_empty|is_not_empty)$/.test(condition)
    const isRelative = /^(past|next|this)_/.test(condition)
    const raw = one[fields[kind]]
    const value: Json = isBare
      ? true
      : isRelative
        ? {}
        : kind === 'number'
          ? numberValue(step, raw, scope)
          : step.value(raw ?? '', scope, 'filter')
    return { property: name, [kind]: { [condition]: value } }
  })
  return { [p.matchType === 'allFilters' ? 'and' : 'or']: made }
}

/** Converts operations that need special arguments; returns undefined if the table of services knows the operation. */
export function notion(step: Step, resource: string, operation: string): Exit[] | undefined {
  const { p } = step
  const call = (at: Place, action: string, args: JsonObject): string => addCall(step, at, SERVICE, action, args)
  switch (`${resource}:${operation}`) {
    case 'databasePage:create':
      return step.each((at) => {
        const children = blocksOf(step, at.scope)
        const id = call(at, 'create_database_page', {
          database_id: idOf(step, p.databaseId, at.scope),
          properties: propertiesOf(step, at.scope),
          ...(children.length > 0 && { children }),
        })
        return plainly(step, at, id, false)
      })
    case 'databasePage:update':
      return step.each((at) => {
        const id = call(at, 'update_page', {
          page_id: idOf(step, p.pageId, at.scope),
          properties: propertiesOf(step, at.scope),
        })
        return plainly(step, at, id, false)
      })
    case 'databasePage:get':
    case 'page:get':
      return step.each((at) =>
        plainly(step, at, call(at, 'get_page', { page_id: idOf(step, p.pageId, at.scope) }), false),
      )
    case 'databasePage:getAll':
      return step.each(
        (at) => {
          const filter = filterOf(step, at.scope)
          const limit = Number(p.limit ?? 50)
          const id = call(at, 'query_database', {
            database_id: idOf(step, p.databaseId, at.scope),
            ...(filter !== undefined && { filter }),
            ...(p.returnAll !== true && Number.isInteger(limit) && { max_items: limit }),
          })
          return plainly(step, at, id, true)
        },
        { many: true },
      )
    case 'page:create':
      return step.each((at) => {
        const children = blocksOf(step, at.scope)
        const id = call(at, 'create_page', {
          page_id: idOf(step, p.pageId, at.scope),
          title: step.text(p.title ?? '', at.scope, 'title'),
          ...(children.length > 0 && { children }),
        })
        return plainly(step, at, id, false)
      })
    case 'block:append':
      return step.each((at) =>
        outputOf(
          call(at, 'append_blocks', { block_id: idOf(step, p.blockId, at.scope), children: blocksOf(step, at.scope) }),
        ),
      )
    default:
      return undefined
  }
}
