import type { Json, JsonObject } from '#model/definition'
import { isForbiddenKey, isObject } from '#model/json'
import { patternOf, unitOf } from '../dates.ts'
import type { Scope } from '../expressions.ts'
import { type Exit, ofOne, orEmpty, outputOf } from '../flow.ts'
import { NotConvertible, NotFilled } from '../js-ast.ts'
import { celOut, fieldsOut, member, type Out, pathOut, quote, textOf } from '../out.ts'
import type { Place, Step } from '../step.ts'

// Nodes that reshape items. What works on the list as a whole is a code node with a few lines.

const listOf = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** The fields that a Set node writes, of the older and the newer form. */
function assignments({ p }: Step): { name: string; value: Json | undefined; type: string }[] {
  if (isObject(p.assignments))
    return listOf(p.assignments.assignments).map((one) => ({
      name: String(one.name ?? ''),
      value: one.value,
      type: String(one.type ?? 'string'),
    }))
  const kinds = isObject(p.fields) ? { fields: p.fields.values } : isObject(p.values) ? p.values : {}
  return Object.entries(kinds).flatMap(([kind, list]) =>
    listOf(list).map((one) => {
      const type = kind === 'fields' ? String(one.type ?? 'stringValue').replace(/Value$/, '') : kind
      return { name: String(one.name ?? ''), value: one.value ?? one[`${type}Value`] ?? one.stringValue, type }
    }),
  )
}

function typedValue(step: Step, raw: Json | undefined, type: string, scope: Scope, field: string): Json {
  if (typeof raw === 'string' && !raw.startsWith('=')) {
    if (type === 'number' && raw.trim() !== '' && Number.isFinite(Number(raw))) return Number(raw)
    if (type === 'boolean') return raw === 'true'
    if (type === 'array' || type === 'object') {
      try {
        return step.value(JSON.parse(raw) as Json, scope, field)
      } catch {
        return step.value(raw, scope, field)
      }
    }
  }
  return step.value(raw ?? null, scope, field)
}

/** `a.b` sets a field inside another one. */
function place(values: JsonObject, name: string, value: Json, dotted: boolean): void {
  const path = dotted ? name.split('.') : [name]
  if (path.some((part) => isForbiddenKey(part) || part === ''))
    throw new NotConvertible(`the field "${name.slice(0, 60)}" cannot be set`)
  let at = values
  for (const part of path.slice(0, -1)) {
    const inner = at[part]
    const next: JsonObject = isObject(inner) && !('$ref' in inner) && !('$cel' in inner) ? inner : {}
    at[part] = next
    at = next
  }
  at[path.at(-1)!] = value
}

export function convertSet(step: Step): Exit[] {
  const { p } = step
  const options = isObject(p.options) ? p.options : {}
  const dotted = options.dotNotation !== false
  const include =
    p.includeOtherFields === true ||
    (p.include !== undefined && p.include !== 'none') ||
    (isObject(p.values) && p.keepOnlySet !== true) ||
    (step.node.version < 3 && p.keepOnlySet !== true)
  return step.each(({ scope, add }) => {
    const item = scope.input.paired()
    if (p.mode === 'raw') {
      const id = add('set', { values: rawObject(step, p.jsonOutput, scope) })
      return outputOf(id)
    }
    const values: JsonObject = {}
    const computed: Json[] = []
    for (const { name, value, type } of assignments(step)) {
      if (name === '') continue
      if (name.startsWith('='))
        computed.push({
          name: step.text(name, scope, 'name'),
          value: typedValue(step, value, type, scope, 'value'),
        })
      else place(values, name, typedValue(step, value, type, scope, name), dotted)
    }
    if (!include && computed.length === 0) return outputOf(add('set', { values }))
    const id = add('code', {
      input: { item: include ? step.guarded(item) : {}, values, ...(computed.length > 0 && { computed }) },
      source:
        computed.length === 0
          ? 'return { ...input.item, ...input.values }'
          : 'return { ...input.item, ...input.values, ...Object.fromEntries(input.computed.map(({ name, value }) => [name, value])) }',
    })
    return outputOf(id)
  })
}

/** `{"a": "{{ $json.b }}"}`: a text that becomes JSON. */
export function rawObject(step: Step, raw: Json | undefined, scope: Scope): Json {
  if (isObject(raw) || Array.isArray(raw)) return step.value(raw, scope)
  if (typeof raw !== 'string' || raw.trim() === '' || raw.trim() === '=') return {}
  const text = raw.startsWith('=') ? raw.slice(1) : raw
  if (!raw.startsWith('=')) {
    try {
      return step.value(JSON.parse(text) as Json, scope)
    } catch {
      throw new NotConvertible('its JSON cannot be read')
    }
  }
  const filled = withValues(text)
  if (filled) {
    try {
      return step.value(restored(JSON.parse(filled.text) as Json, filled.expressions), scope)
    } catch {
      // Below it is put together as a text when it runs.
    }
  }
  const out = step.out(raw, scope, 'JSON')
  return step.guarded(out.type === 'text' ? celOut(`json.decode(${textOf(out)})`) : out)
}

/** Each {{ … }} replaced by a mark that JSON can hold, whether it stood inside a text or alone. */
function withValues(text: string): { text: string; expressions: string[] } | undefined {
  const expressions: string[] = []
  let inText = false
  let result = ''
  for (let at = 0; at < text.length; at += 1) {
    if (text.startsWith('{{', at) && text[at + 2] !== '"') {
      let end = text.indexOf('}}', at)
      if (end < 0) return undefined
      while (text[end + 2] === '}' && !isClosed(text.slice(at + 2, end))) end += 1
      expressions.push(text.slice(at, end + 2))
      const mark = `\u0001${expressions.length - 1}\u0002`
      result += inText ? `\\u0001${expressions.length - 1}\\u0002` : JSON.stringify(mark)
      at = end + 1
    } else if (inText && text[at] === '\\') {
      result += text.slice(at, at + 2)
      at += 1
    } else {
      if (text[at] === '"') inText = !inText
      result += inText && text[at] === '\n' ? '\\n' : inText && text[at] === '\t' ? '\\t' : text[at]
    }
  }
  return { text: result, expressions }
}

const isClosed = (source: string): boolean => source.split('{').length === source.split('}').length

// biome-ignore lint/suspicious/noControlCharactersInRegex: the marks are control characters so that no text of a template holds them.
const MARK = /\u0001(\d+)\u0002/g

function restored(value: Json, expressions: string[]): Json {
  if (typeof value === 'string') {
    MARK.lastIndex = 0
    if (!MARK.test(value)) return value.startsWith('=') ? `=${value}` : value
    return `=${value.replace(MARK, (_all, at: string) => expressions[Number(at)] ?? '')}`
  }
  if (Array.isArray(value)) return value.map((item) => restored(item, expressions))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.replace(MARK, '_'), restored(item, expressions)]),
  )
}

/** The whole list through a few lines of code. */
function overList(step: Step, source: string, input: JsonObject = {}): Exit[] {
  step.add('code', { input: { items: step.guarded(celOut(orEmpty(step.input), 'list')), ...input }, source })
  return [step.exit({ list: { ...outputOf(step.id), type: 'list' } })]
}

const READ = "const read = (item, path) => path.split('.').reduce((value, key) => value?.[key], item)\n"
const names = (value: Json | undefined): string[] => {
  const list = String(value ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (list.some((name) => name.startsWith('='))) throw new NotConvertible('the names of fields are computed')
  return list
}

export function splitOut(step: Step): Exit[] {
  const { p } = step
  const fields = names(p.fieldToSplitOut).map((name) => name.replace(/^\$json\./, ''))
  if (fields.length === 0) throw new NotFilled('it names no field')
  const options = isObject(p.options) ? p.options : {}
  const include = String(p.include ?? 'noOtherFields')
  const target = String(options.destinationFieldName ?? '')
  const key = target || (fields[0] ?? '').split('.').at(-1)!
  return overList(
    step,
    `${READ}const fields = ${JSON.stringify(fields)}
return input.items.flatMap((item) => {
  const lists = fields.map((field) => [read(item, field) ?? []].flat())
  const rest = ${include === 'allOtherFields' ? 'Object.fromEntries(Object.entries(item).filter(([name]) => !fields.includes(name)))' : include === 'selectedOtherFields' ? `Object.fromEntries(${JSON.stringify(names(p.fieldsToInclude))}.map((name) => [name, read(item, name)]))` : '{}'}
  return lists[0].map((value, at) => {
    const plain = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (fields.length === 1 && plain && ${target === '' && include === 'noOtherFields'}) return value
    return Object.assign({}, rest, ...fields.map((field, index) => ({ [fields.length === 1 ? ${JSON.stringify(key)} : field]: lists[index][at] })))
  })
})`,
  )
}

export function aggregate(step: Step): Exit[] {
  const { p } = step
  const list = orEmpty(step.input)
  if (p.aggregate === 'aggregateAllItemData') {
    const field = String(p.destinationFieldName ?? 'data') || 'data'
    const include = String(p.include ?? 'allFields')
    if (include === 'allFields') {
      step.add('set', { values: { [field]: { $cel: list } } })
      return [step.exit(ofOne(outputOf(step.id)))]
    }
    const chosen = names(include === 'specifiedFields' ? p.fieldsToInclude : p.fieldsToExclude)
    step.add('code', {
      input: { items: step.guarded(celOut(list, 'list')) },
      source: `const names = ${JSON.stringify(chosen)}\nreturn { ${JSON.stringify(field)}: input.items.map((item) => Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name) === ${include === 'specifiedFields'}))) }`,
    })
    return [step.exit(ofOne(outputOf(step.id)))]
  }
  const fields = listOf(isObject(p.fieldsToAggregate) ? p.fieldsToAggregate.fieldToAggregate : undefined)
  if (fields.length === 0) throw new NotFilled('it names no field')
  const options = isObject(p.options) ? p.options : {}
  const values: JsonObject = {}
  for (const one of fields) {
    const from = names(one.fieldToAggregate)[0] ?? ''
    const to = one.renameField === true ? String(one.outputFieldName ?? from) : from.split('.').at(-1)!
    const path = from
      .split('.')
      .map((part, at) => (at === 0 ? `[?${quote(part)}]` : `[${quote(part)}]`))
      .join('')
    const kept = options.keepMissing === true ? '' : '.filter(x, x != null)'
    place(
      values,
      to,
      { $cel: `${list}.map(x, x${path}.orValue(null))${kept}${options.mergeLists === true ? '.flatten()' : ''}` },
      false,
    )
  }
  step.add('set', { values })
  return [step.exit(ofOne(outputOf(step.id)))]
}

export function limit(step: Step): Exit[] {
  const { p } = step
  const most = Number(p.maxItems ?? 1)
  if (!Number.isInteger(most)) throw new NotConvertible('the number of items is computed')
  if (step.input.one && most >= 1) {
    step.add('set', { values: { item: step.guarded(step.input.one) } })
    return [step.exit({ ...step.passed(), ...ofOne(pathOut(['nodes', step.id, 'output', 'item'])) })]
  }
  const list = orEmpty(step.input)
  const cut =
    p.keep === 'lastItems'
      ? `cel.bind(v, ${list}, v.slice(math.greatest(0, size(v) - ${most})))`
      : `${list}.slice(0, ${most})`
  step.add('set', { values: { items: { $cel: cut } } })
  const out: Out = { ...pathOut(['nodes', step.id, 'output', 'items']), type: 'list' }
  const { same } = step.passed()
  return [step.exit(most === 1 ? { list: out, one: member(out, 0), same } : { list: out, same })]
}

export function sort(step: Step): Exit[] {
  const { p } = step
  if (p.type === 'random') throw new NotConvertible('it shuffles the items')
  if (p.type === 'code') throw new NotConvertible('it sorts with code')
  const fields = listOf(isObject(p.sortFieldsUi) ? p.sortFieldsUi.sortField : undefined).map((one) => [
    names(one.fieldName)[0] ?? '',
    one.order === 'descending' ? -1 : 1,
  ])
  return overList(
    step,
    `${READ}const fields = ${JSON.stringify(fields)}
const compare = (a, b) => (a === b ? 0 : a === undefined || a === null ? 1 : b === undefined || b === null ? -1 : a < b ? -1 : 1)
return input.items.toSorted((a, b) => {
  for (const [field, sign] of fields) {
    const order = compare(read(a, field), read(b, field))
    if (order !== 0) return order * sign
  }
  return 0
})`,
  )
}

export function removeDuplicates(step: Step): Exit[] {
  const { p } = step
  const operation = String(p.operation ?? 'removeDuplicateInputItems')
  if (operation === 'removeItemsSeenInPreviousExecutions') return unseen(step)
  if (operation !== 'removeDuplicateInputItems')
    throw new NotConvertible(`the operation "${operation.slice(0, 50)}" has no counterpart`)
  const compare = String(p.compare ?? 'allFields')
  const fields = compare === 'allFields' ? [] : names(p.fieldsToCompare ?? p.fieldsToExclude)
  const key =
    compare === 'allFields'
      ? 'item'
      : compare === 'selectedFields'
        ? `${JSON.stringify(fields)}.map((field) => read(item, field))`
        : `Object.entries(item).filter(([name]) => !${JSON.stringify(fields)}.includes(name))`
  return overList(
    step,
    `${READ}const seen = new Set()
return input.items.filter((item) => {
  const key = JSON.stringify(${key})
  if (seen.has(key)) return false
  seen.add(key)
  return true
})`,
  )
}

/** The values that earlier runs saw are kept as state of the workflow. */
function unseen(step: Step): Exit[] {
  const { p } = step
  if (p.logic !== undefined && p.logic !== 'removeItemsWithAlreadySeenKeyValues')
    throw new NotConvertible('it keeps only larger or later values')
  const each = pathOut(['x'])
  const value = step.out(p.dedupeValue, step.scope(each, celOut('index_')), 'dedupeValue')
  const key = `seen:${step.id}`
  const seen = step.add('state.get', { key, default: [] })
  const list = orEmpty(step.input)
  const fresh = step.add('set', {
    values: {
      items: { $cel: `${list}.filter(x, !(string(${value.cel}) in nodes.${seen}.output.value))` },
      keys: { $cel: `${list}.map(x, string(${value.cel}))` },
    },
  })
  step.add('state.set', {
    key,
    value: {
      $cel: `cel.bind(v, (nodes.${seen}.output.value + nodes.${fresh}.output.keys).distinct(), v.slice(math.greatest(0, size(v) - 2000)))`,
    },
  })
  step.remark('it remembers the newest 2000 values as state of the workflow')
  return [
    step.exit({ list: { ...pathOut(['nodes', fresh, 'output', 'items']), type: 'list' }, same: step.passed().same }),
  ]
}

export function summarize(step: Step): Exit[] {
  const { p } = step
  const fields = listOf(isObject(p.fieldsToSummarize) ? p.fieldsToSummarize.values : undefined).map((one) => ({
    kind: String(one.aggregation ?? 'count'),
    field: names(one.field)[0] ?? '',
    by: one.separateBy === undefined ? ', ' : String(one.separateBy),
  }))
  if (fields.length === 0) throw new NotFilled('it names no field')
  const unknown = fields.find(
    ({ kind }) => !['count', 'countUnique', 'sum', 'average', 'min', 'max', 'append', 'concatenate'].includes(kind),
  )
  if (unknown) throw new NotConvertible(`the summary "${unknown.kind.slice(0, 40)}" has no counterpart`)
  return overList(
    step,
    `${READ}const fields = ${JSON.stringify(fields)}
const by = ${JSON.stringify(names(p.fieldsToSplitBy))}
const groups = new Map()
for (const item of input.items) {
  const key = JSON.stringify(by.map((field) => read(item, field)))
  groups.set(key, [...(groups.get(key) ?? []), item])
}
const prefix = { count: 'count_', countUnique: 'unique_count_', sum: 'sum_', average: 'average_', min: 'min_', max: 'max_', append: 'appended_', concatenate: 'concatenated_' }
const summary = (items, { kind, field, by }) => {
  const values = items.map((item) => read(item, field)).filter((value) => value !== undefined && value !== null)
  const numbers = values.map(Number)
  const sum = numbers.reduce((total, value) => total + value, 0)
  return { count: values.length, countUnique: new Set(values).size, sum, average: numbers.length ? sum / numbers.length : null, min: numbers.length ? Math.min(...numbers) : null, max: numbers.length ? Math.max(...numbers) : null, append: values, concatenate: values.join(by) }[kind]
}
return [...groups.values()].map((items) => ({
  ...Object.fromEntries(by.map((field) => [field, read(items[0], field)])),
  ...Object.fromEntries(fields.map((one) => [prefix[one.kind] + one.field, summary(items, one)])),
}))`,
  )
}

export function itemLists(step: Step): Exit[] {
  const operation = String(step.p.operation ?? 'splitOutItems')
  const by: Record<string, (one: Step) => Exit[]> = {
    splitOutItems: splitOut,
    limit,
    sort,
    removeDuplicates,
    summarize,
    concatenateItems: aggregate,
    aggregateItems: aggregate,
  }
  const handler = Object.hasOwn(by, operation) ? by[operation] : undefined
  if (!handler) throw new NotConvertible(`the operation "${operation.slice(0, 40)}" has no counterpart`)
  return handler(step)
}

export function renameKeys(step: Step): Exit[] {
  const keys = listOf(isObject(step.p.keys) ? step.p.keys.key : undefined).map((one) => [
    String(one.currentKey ?? ''),
    String(one.newKey ?? ''),
  ])
  return overList(
    step,
    `const names = new Map(${JSON.stringify(keys)})\nreturn input.items.map((item) => Object.fromEntries(Object.entries(item).map(([name, value]) => [names.get(name) ?? name, value])))`,
  )
}

/** Adds fields to each item. */
const withFields = ({ scope, add }: Place, step: Step, values: JsonObject): Out =>
  outputOf(
    add('code', {
      input: { item: step.guarded(scope.input.paired()), values },
      source: 'return { ...input.item, ...input.values }',
    }),
  )

export function dateTime(step: Step): Exit[] {
  const { p } = step
  const operation = String(
    p.operation ??
      (p.action === 'calculate'
        ? 'addToDate'
        : p.action === 'format' || p.format !== undefined
          ? 'formatDate'
          : 'getCurrentDate'),
  )
  return step.each((at) => {
    const { scope } = at
    const date = (raw: Json | undefined): string => {
      const out = step.out(raw, scope, 'date')
      return out.type === 'time' ? out.cel : `timestamp(${textOf(out)})`
    }
    const field = String(
      p.outputFieldName ??
        p.dataPropertyName ??
        {
          getCurrentDate: 'currentDate',
          formatDate: 'formattedDate',
          addToDate: 'newDate',
          subtractFromDate: 'newDate',
        }[operation] ??
        'date',
    )
    const given = p.date ?? p.magnitude ?? p.value
    const cel = (): string => {
      if (operation === 'getCurrentDate')
        return p.includeTime === false ? 'string(now().startOf("day"))' : 'string(now())'
      if (operation === 'formatDate') {
        const pattern =
          p.format === 'custom' || p.format === undefined
            ? String(p.customFormat ?? p.toFormat ?? 'yyyy-MM-dd')
            : String(p.format)
        return `${date(given)}.format(${quote(patternOf(pattern, p.toFormat === undefined ? 'luxon' : 'moment'))})`
      }
      if (operation === 'addToDate' || operation === 'subtractFromDate') {
        const sign = operation === 'subtractFromDate' || p.operation === 'subtract' ? '-' : ''
        return `string(${date(p.magnitude ?? given)}.add(${sign}${step.out(p.duration ?? 0, scope, 'duration').cel}, ${quote(unitOf(String(p.timeUnit ?? 'days')))}))`
      }
      throw new NotConvertible(`the operation "${operation.slice(0, 40)}" has no counterpart`)
    }
    const value = { $cel: cel() }
    const options = isObject(p.options) ? p.options : {}
    if (options.includeInputFields !== true && step.node.version >= 2)
      return outputOf(at.add('set', { values: { [field]: value } }))
    return withFields(at, step, { [field]: value })
  })
}

export function crypto(step: Step): Exit[] {
  const { p } = step
  const action = String(p.action ?? 'hash')
  const field = String(p.dataPropertyName ?? 'data')
  return step.each((at) => {
    const encoding = String(p.encoding ?? 'hex').toLowerCase()
    const value = textOf(step.out(p.value, at.scope, 'value'))
    if (action === 'generate') return withFields(at, step, { [field]: { $cel: 'uuid()' } })
    if (String(p.type ?? 'MD5') !== 'SHA256' || !['hex', 'base64'].includes(encoding))
      throw new NotConvertible(`${String(p.type ?? 'MD5').slice(0, 20)} is not there; SHA256 is`)
    if (action === 'hash') return withFields(at, step, { [field]: { $cel: `sha256(${value}, ${quote(encoding)})` } })
    throw new NotConvertible(`the key of "${action.slice(0, 20)}" belongs in a credential`)
  })
}

export function markdown(step: Step): Exit[] {
  const { p } = step
  const field = String(p.destinationKey ?? 'data')
  if (p.mode === 'markdownToHtml') {
    return step.each((at) =>
      outputOf(
        at.add('code', {
          input: { item: step.guarded(at.scope.input.paired()), text: step.text(p.markdown, at.scope, 'markdown') },
          source: `${TO_HTML}\nreturn { ...input.item, ${JSON.stringify(field)}: html(String(input.text ?? '')) }`,
        }),
      ),
    )
  }
  return step.each((at) => {
    const file = at.add('file.write', {
      name: 'page.html',
      media_type: 'text/html',
      text: step.text(p.html, at.scope, 'html'),
    })
    const read = at.add('file.convert', { file: { $ref: `nodes.${file}.output` }, from: 'html', to: 'text' })
    return fieldsOut({ [field]: pathOut(['nodes', read, 'output', 'text'], 'any') })
  })
}

/** Headings, lists, emphasis, code, links and paragraphs. */
const TO_HTML = `const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const inline = (text) => escape(text)
  .replace(/\`([^\`]+)\`/g, '<code>$1</code>')
  .replace(/\\*\\*([^*]+)\\*\\*/g, '<strong>$1</strong>')
  .replace(/\\*([^*]+)\\*/g, '<em>$1</em>')
  .replace(/\\[([^\\]]+)\\]\\((https?:[^)\\s]+)\\)/g, '<a href="$2">$1</a>')
const html = (text) => text.split(/\\n{2,}/).map((block) => {
  const heading = /^(#{1,6})\\s+(.*)$/.exec(block)
  if (heading) return '<h' + heading[1].length + '>' + inline(heading[2]) + '</h' + heading[1].length + '>'
  const lines = block.split('\\n')
  if (lines.every((line) => /^\\s*[-*]\\s+/.test(line))) return '<ul>' + lines.map((line) => '<li>' + inline(line.replace(/^\\s*[-*]\\s+/, '')) + '</li>').join('') + '</ul>'
  if (lines.every((line) => /^\\s*\\d+\\.\\s+/.test(line))) return '<ol>' + lines.map((line) => '<li>' + inline(line.replace(/^\\s*\\d+\\.\\s+/, '')) + '</li>').join('') + '</ol>'
  return '<p>' + lines.map(inline).join('<br>') + '</p>'
}).join('\\n')`
