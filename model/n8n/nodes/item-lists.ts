import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { type Exit, ofOne, orEmpty, outputOf } from '../flow.ts'
import { NotConvertible, NotFilled } from '../js-ast.ts'
import { listOf } from '../lenient.ts'
import { celOut, member, type Out, pathOut, quote } from '../out.ts'
import type { Step } from '../step.ts'
import { place } from './set-node.ts'

// Nodes that process the whole list of items: code nodes with a few lines.

/** Processes the whole list with a few lines of code. */
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

/** Keeps items whose values earlier executions have not seen. The values are stored as state of the workflow. */
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
