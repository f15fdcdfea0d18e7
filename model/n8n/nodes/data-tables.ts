import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { type Exit, outputOf } from '../flow.ts'
import { NotConvertible, NotFilled } from '../js-ast.ts'
import { listOf, objectOf } from '../lenient.ts'
import { celOut, type Out, pathOut } from '../out.ts'
import type { Scope } from '../scope.ts'
import type { Place, Step } from '../step.ts'
import { idFrom } from './databases.ts'
import { columnsOf, isFilledByModel } from './service-call.ts'

// Data tables of n8n become datasets of the workspace.

const MAX_RECORDS = 10_000

function datasetOf(step: Step): Json {
  const held = step.p.dataTableId
  const name = isObject(held) ? (held.cachedResultName ?? held.value) : held
  if (typeof name !== 'string' || name.replace(/^=/, '').trim() === '') throw new NotFilled('it names no table')
  if (name.startsWith('=') && name.includes('{{')) throw new NotConvertible('the table is computed')
  return idFrom(step, 'dataset', name.replace(/^=/, ''))
}

/** Returns the conditions, with values that one node computes. */
function conditionsOf(step: Step, scope: Scope): JsonObject[] {
  return listOf(objectOf(step.p.filters).conditions)
    .filter(({ keyName }) => typeof keyName === 'string' && keyName !== '')
    .map((one) => ({
      name: step.text(one.keyName, scope, 'keyName'),
      is: String(one.condition ?? 'eq'),
      value: step.value(one.keyValue ?? null, scope, 'keyValue'),
    }))
}

/** Compares a value in a table with the value of a condition as n8n does. */
const MATCHES = `const same = (a, b) => (a ?? '') === (b ?? '') || (a !== null && a !== undefined && b !== null && b !== undefined && String(a) === String(b))
const order = (a, b) => (Number.isFinite(Number(a)) && Number.isFinite(Number(b)) ? Number(a) - Number(b) : String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0)
const like = (a, b, flags) => new RegExp('^' + String(b ?? '').replace(/[.*+?^$()|[\\]{}\\\\]/g, '\\\\$&').replaceAll('%', '[\\\\s\\\\S]*').replaceAll('_', '[\\\\s\\\\S]') + '$', flags).test(String(a ?? ''))
const tests = {
  eq: same, neq: (a, b) => !same(a, b), like: (a, b) => like(a, b, ''), ilike: (a, b) => like(a, b, 'i'),
  gt: (a, b) => order(a, b) > 0, gte: (a, b) => order(a, b) >= 0, lt: (a, b) => order(a, b) < 0, lte: (a, b) => order(a, b) <= 0,
  isEmpty: (a) => (a ?? '') === '', isNotEmpty: (a) => (a ?? '') !== '', isTrue: (a) => a === true || a === 'true', isFalse: (a) => a === false || a === 'false',
}
const fits = (row) => {
  if (input.conditions.length === 0) return true
  const one = ({ name, is, value }) => (tests[is] ?? same)(row[name], value)
  return input.any ? input.conditions.some(one) : input.conditions.every(one)
}
`

/** Reads the table and the conditions, and passes them to code. */
function coded(step: Step, { scope, add }: Place, dataset_id: Json, source: string, more: JsonObject = {}): string {
  const read = add('dataset.read', { dataset_id, limit: MAX_RECORDS })
  return add('code', {
    input: {
      rows: { $ref: `nodes.${read}.output.records` },
      conditions: conditionsOf(step, scope) as Json[],
      any: String(step.p.matchType ?? 'anyCondition') !== 'allConditions',
      ...more,
    },
    source: `${MATCHES}${source}`,
  })
}

const listed = (id: string): Out => ({ ...pathOut(['nodes', id, 'output']), type: 'list' })

/** Gives a new row the same fields as n8n does: a number and the time. */
const NEW_ROW = `const at = new Date().toISOString()
const made = (row) => ({ id: Date.now() * 1000 + Math.floor(Math.random() * 1000), createdAt: at, updatedAt: at, ...row })
`

function insert(step: Step, { scope, add }: Place): Out {
  const dataset_id = datasetOf(step)
  const row = columnsOf(step, step.p.columns, scope)
  if (isFilledByModel(row)) {
    add('dataset.write', { dataset_id, records: [row], mode: 'append' })
    return celOut('[]', 'list')
  }
  const id = add('code', { input: { row }, source: `${NEW_ROW}return [made(input.row ?? {})]` })
  add('dataset.write', { dataset_id, records: { $ref: `nodes.${id}.output` }, mode: 'append' })
  return listed(id)
}

/** Writes changed rows by their number, so that concurrent changes of other rows are kept. */
function change(step: Step, at: Place, isUpsert: boolean): Out {
  const dataset_id = datasetOf(step)
  const row = columnsOf(step, step.p.columns, at.scope)
  const source = `${NEW_ROW}const found = input.rows.filter(fits).map((row) => ({ ...row, ...input.row, updatedAt: at }))
return found.length > 0 || ${!isUpsert} ? found.map((row) => ({ ...row, id: row.id ?? made({}).id })) : [made(input.row ?? {})]`
  const id = coded(step, at, dataset_id, source, { row })
  at.add('dataset.write', { dataset_id, records: { $ref: `nodes.${id}.output` }, mode: 'upsert', key: 'id' })
  return listed(id)
}

function remove(step: Step, at: Place): Out {
  const dataset_id = datasetOf(step)
  if (listOf(objectOf(step.p.filters).conditions).length === 0) throw new NotFilled('it has no condition')
  step.remark('it rewrites the whole dataset: allow only one run at a time (max_concurrency)')
  const id = coded(
    step,
    at,
    dataset_id,
    'return { removed: input.rows.filter(fits), kept: input.rows.filter((row) => !fits(row)) }',
  )
  at.add('dataset.write', { dataset_id, records: { $ref: `nodes.${id}.output.kept` }, mode: 'replace' })
  return pathOut(['nodes', id, 'output', 'removed'], 'list')
}

export function dataTable(step: Step): Exit[] {
  const { p } = step
  const many = { many: true }
  if ((p.resource ?? 'row') !== 'row') throw new NotConvertible('it makes or deletes tables')
  const operation = String(p.operation ?? 'insert')
  switch (operation) {
    case 'insert':
      return step.each((at) => insert(step, at), many)
    case 'get': {
      const limit = p.returnAll === true ? MAX_RECORDS : Math.max(1, Math.trunc(Number(p.limit ?? 50)) || 50)
      return step.each(
        (at) => listed(coded(step, at, datasetOf(step), `return input.rows.filter(fits).slice(0, ${limit})`)),
        many,
      )
    }
    case 'update':
    case 'upsert':
      return step.each((at) => change(step, at, operation === 'upsert'), many)
    case 'deleteRows':
      return step.each((at) => remove(step, at), many)
    case 'rowExists':
    case 'rowNotExists':
      return step.each((at) => {
        const id = coded(step, at, datasetOf(step), 'return input.rows.some(fits)')
        const wanted = operation === 'rowExists' ? '== true' : '!= true'
        return celOut(`(${outputOf(id).cel} ${wanted} ? [${at.scope.input.paired().cel}] : [])`, 'list')
      }, many)
    default:
      throw new NotConvertible(`the operation "${operation.slice(0, 40)}" of a table is not mapped`)
  }
}
