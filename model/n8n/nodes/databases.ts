import type { Json } from '#model/definition'
import { isObject } from '#model/json'
import { type Exit, outputOf } from '../flow.ts'
import { NotConvertible, NotFilled } from '../js-ast.ts'
import { listOf, objectOf } from '../lenient.ts'
import { celOut, type Out, pathOut, textOf, toValue } from '../out.ts'
import type { Scope } from '../scope.ts'
import type { Place, Step } from '../step.ts'
import { chosen, columnsOf, isFilledByModel } from './service-call.ts'
import {
  type Dialect,
  isReading,
  isReturning,
  MYSQL,
  POSTGRES,
  SNOWFLAKE,
  SQL_SERVER,
  type Statement,
  statementsOf,
  type Value,
} from './sql.ts'

// Database nodes become warehouse.query and warehouse.execute. They use a connection of the workspace; a variable
// contains its id.

const DIALECTS: Record<string, Dialect> = {
  postgres: POSTGRES,
  timescaleDb: POSTGRES,
  mySql: MYSQL,
  microsoftSql: SQL_SERVER,
  snowflake: SNOWFLAKE,
}

const slug = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 40)

/** Returns the id of a workspace resource that a node names: a variable contains the id. */
export function idFrom(step: Step, kind: 'connection' | 'dataset' | 'knowledge', name: string): Json {
  const variable = `${kind}_${slug(name) || 'n8n'}`
  step.remark(
    `make a ${kind === 'knowledge' ? 'knowledge base' : kind} for "${name.slice(0, 80)}" and store its id as the variable ${variable}`,
  )
  return { $ref: `vars.${variable}` }
}

function connectionOf(step: Step, dialect: Dialect, isWriting = false): Json {
  const [name] = Object.values(step.node.credentials)
  if (isWriting) step.remark('the connection has to allow writing (allow_write)')
  return idFrom(step, 'connection', name ?? dialect.name)
}

/** Returns a name that is written into the statement itself. */
function plainName(raw: Json | undefined, what: string): string {
  const name = chosen(raw)
  if (typeof name !== 'string' || name.replace(/^=/, '').trim() === '') throw new NotFilled(`${what} is missing`)
  if (name.startsWith('=') && name.includes('{{')) throw new NotConvertible(`${what} is computed`)
  return name.replace(/^=/, '')
}

function tableOf({ p }: Step, dialect: Dialect): { name: string; quoted: string } {
  const table = plainName(p.table, 'the table')
  const schema = chosen(p.schema)
  const parts =
    typeof schema === 'string' && schema !== '' && schema !== 'public'
      ? [plainName(schema, 'the schema'), table]
      : [table]
  return { name: parts.join('.'), quoted: parts.map((part) => dialect.quote(part)).join('.') }
}

/** Returns the parameters that are passed separately from the statement. */
function replacements(step: Step, scope: Scope): { list: Json[] } | { all: Out } {
  const options = objectOf(step.p.options)
  const held = options.queryReplacement ?? step.p.additionalFields
  const raw = isObject(held) ? held.queryParams : held
  if (typeof raw !== 'string' || raw.replace(/^=/, '').trim() === '') return { list: [] }
  const parts = splitTop(raw.replace(/^=/, ''))
  const isOne = parts.length === 1 && raw.startsWith('=')
  if (isOne) {
    const of = step.out(raw, scope, 'queryReplacement')
    return { all: celOut(`cel.bind(v, ${of.cel}, type(v) == list ? v : [v])`, 'list') }
  }
  return { list: parts.map((part) => step.value(raw.startsWith('=') ? `=${part}` : part, scope, 'queryReplacement')) }
}

/** Splits a text at commas outside of expressions. */
function splitTop(text: string): string[] {
  const parts = ['']
  let depth = 0
  for (const token of text.match(/\{\{|\}\}|,|[\s\S]/g) ?? []) {
    if (token === '{{') depth += 1
    if (token === '}}') depth = Math.max(0, depth - 1)
    if (token === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += token
  }
  return parts.map((part) => part.trim())
}

function parametersOf(step: Step, scope: Scope, values: readonly Value[]): Json | undefined {
  if (values.length === 0) return undefined
  const given = values.some((value) => 'number' in value) ? replacements(step, scope) : { list: [] }
  return values.map((value) => {
    if ('source' in value) {
      const of = step.out(`={{ ${value.source} }}`, scope, 'query')
      return step.guarded(value.isText ? celOut(textOf(of), 'text') : of)
    }
    const at = value.number - 1
    if ('all' in given) return step.guarded(celOut(`(${given.all.cel})[?${at}].orValue(null)`))
    const found = given.list[at]
    return found ?? step.unfilled(`the parameter $${value.number}`)
  })
}

function run(step: Step, { scope, add }: Place, dialect: Dialect, statement: Statement): Out {
  const { text, values } = statement
  const params = parametersOf(step, scope, values)
  const connection_id = connectionOf(step, dialect, !isReading(statement))
  if (isReading(statement)) {
    const id = add('warehouse.query', {
      connection_id,
      query: text,
      ...(params !== undefined && { params }),
      limit: 10_000,
    })
    return pathOut(['nodes', id, 'output', 'rows'], 'list')
  }
  if (isReturning(statement)) throw new NotConvertible('a statement that writes returns rows')
  const id = add('warehouse.execute', { connection_id, statement: text, ...(params !== undefined && { params }) })
  return celOut(`[{"success": true, "affected": ${outputOf(id).cel}?.affected.orValue(null)}]`, 'list')
}

function written(step: Step, { scope, add }: Place, dialect: Dialect): Out {
  const query = step.value(`=${String(step.p.query).replace(/^=/, '').replace(/;\s*$/, '')}`, scope, 'query')
  const id = add('warehouse.query', { connection_id: connectionOf(step, dialect), query })
  return pathOut(['nodes', id, 'output', 'rows'], 'list')
}

const SIGNS: Record<string, string> = { equal: '=', '=': '=', '!=': '<>', '<>': '<>', LIKE: 'like' }

/** Converts the conditions of a node to a part of a statement. */
function conditions(step: Step, scope: Scope, dialect: Dialect, from: number): { text: string; params: Json[] } {
  const { p } = step
  const params: Json[] = []
  const parts = listOf(objectOf(p.where).values).map((one) => {
    const column = dialect.quote(plainName(one.column, 'the column of a condition'))
    const sign = String(one.condition ?? 'equal')
    if (/^is (?:not )?null$/i.test(sign)) return `${column} ${sign.toLowerCase()}`
    const known = SIGNS[sign] ?? (/^[<>]=?$/.test(sign) ? sign : undefined)
    if (known === undefined) throw new NotConvertible(`the condition "${sign.slice(0, 20)}" is not known`)
    params.push(step.value(one.value ?? '', scope, 'where'))
    return `${column} ${known} ${dialect.parameter(from + params.length)}`
  })
  if (parts.length === 0) return { text: '', params }
  return { text: ` where ${parts.join(p.combineConditions === 'OR' ? ' or ' : ' and ')}`, params }
}

function select(step: Step, { scope, add }: Place, dialect: Dialect): Out {
  const { p } = step
  const options = objectOf(p.options)
  const { quoted } = tableOf(step, dialect)
  const wanted = Array.isArray(options.outputColumns) ? options.outputColumns.map(String) : []
  const names = wanted.length === 0 || wanted.includes('*') ? '*' : wanted.map((name) => dialect.quote(name)).join(', ')
  const { text, params } = conditions(step, scope, dialect, 0)
  const sorted = listOf(objectOf(p.sort).values).map(
    (one) =>
      `${dialect.quote(plainName(one.column, 'the column to sort by'))}${one.direction === 'DESC' ? ' desc' : ''}`,
  )
  const order = sorted.length === 0 ? '' : ` order by ${sorted.join(', ')}`
  const limit = Number(p.limit ?? 50)
  const id = add('warehouse.query', {
    connection_id: connectionOf(step, dialect),
    query: `select ${names} from ${quoted}${text}${order}`,
    ...(params.length > 0 && { params }),
    limit: p.returnAll === true || !Number.isInteger(limit) ? 10_000 : Math.min(10_000, Math.max(1, limit)),
  })
  return pathOut(['nodes', id, 'output', 'rows'], 'list')
}

/** Returns the fields of a row. Older nodes list the columns in a text. */
function rowOf(step: Step, scope: Scope): Json {
  const { p } = step
  if (typeof p.columns === 'string' || p.dataMode === 'autoMapInputData' || p.columns === undefined) {
    const names = String(typeof p.columns === 'string' ? p.columns : '')
      .split(',')
      .map((name) => name.trim().replace(/:\w+$/, ''))
      .filter((name) => name !== '')
    if (isObject(p.valuesToSend))
      return Object.fromEntries(
        listOf(p.valuesToSend.values).map((one) => [
          plainName(one.column, 'a column'),
          step.value(one.value ?? '', scope, 'value'),
        ]),
      )
    if (names.length === 0 || names.some((name) => name.includes('{{'))) return step.guarded(scope.input.paired())
    return Object.fromEntries(names.map((name) => [name, step.value(`={{ $json[${JSON.stringify(name)}] }}`, scope)]))
  }
  return columnsOf(step, p.columns, scope)
}

const keysOf = ({ p }: Step): string[] => {
  const { matchingColumns } = objectOf(p.columns)
  const named = Array.isArray(matchingColumns) ? matchingColumns : [p.columnToMatchOn ?? p.updateKey]
  return named.filter((one) => typeof one === 'string' && one !== '').map(String)
}

function write(step: Step, at: Place, dialect: Dialect, operation: string): Out {
  const { name, quoted } = tableOf(step, dialect)
  const connection_id = connectionOf(step, dialect, true)
  const given = rowOf(step, at.scope)
  const key = keysOf(step)
  if (operation !== 'insert' && key.length === 0) throw new NotFilled('it names no column to match on')
  step.remark('its result has the columns that it sent, without those that the database fills in')
  const { row, field } = heldRow(at, given)
  const result = celOut(`[${row.cel}]`, 'list')
  if (operation !== 'update') {
    const rows = [isFilledByModel(given) ? given : toValue(row)]
    at.add('warehouse.execute', { connection_id, table: name, rows, ...(operation === 'upsert' && { key }) })
    return result
  }
  if (!isObject(given) || given.$ref !== undefined || given.$cel !== undefined)
    throw new NotConvertible('it changes the columns that the item has')
  const changed = Object.keys(given).filter((column) => !key.includes(column))
  if (changed.length === 0) throw new NotFilled('it names no column to change')
  const match = (column: string): Json =>
    given[column] === undefined
      ? step.value(step.p.valueToMatchOn ?? `={{ $json[${JSON.stringify(column)}] }}`, at.scope, column)
      : field(column)
  const params = [...changed.map(field), ...key.map(match)]
  const set = changed.map((column, n) => `${dialect.quote(column)} = ${dialect.parameter(n + 1)}`).join(', ')
  const where = key
    .map((column, n) => `${dialect.quote(column)} = ${dialect.parameter(changed.length + n + 1)}`)
    .join(' and ')
  at.add('warehouse.execute', { connection_id, statement: `update ${quoted} set ${set} where ${where}`, params })
  return result
}

/**
 * Adds a separate node for the row, so that its expressions are computed once. Values that a model fills in stay in
 * place.
 */
function heldRow({ add }: Place, given: Json): { row: Out; field(column: string): Json } {
  if (isFilledByModel(given)) return { row: celOut('{}', 'map'), field: (column) => objectOf(given)[column] ?? null }
  const id = add('set', { values: { row: given } }, { isHelper: true })
  const path = ['nodes', id, 'output', 'row']
  return { row: pathOut(path), field: (column) => toValue(pathOut([...path, column])) }
}

function remove(step: Step, { scope, add }: Place, dialect: Dialect): Out {
  const { quoted } = tableOf(step, dialect)
  const command = String(step.p.deleteCommand ?? 'truncate')
  const { text, params } = command === 'delete' ? conditions(step, scope, dialect, 0) : { text: '', params: [] }
  const statement =
    command === 'delete'
      ? `delete from ${quoted}${text}`
      : command === 'drop'
        ? `drop table if exists ${quoted}`
        : `truncate table ${quoted}`
  add('warehouse.execute', {
    connection_id: connectionOf(step, dialect, true),
    statement,
    ...(params.length > 0 && { params }),
  })
  return celOut('[{"success": true}]', 'list')
}

export function database(step: Step): Exit[] {
  const { p, node } = step
  const dialect = DIALECTS[node.type.split('.').at(-1)!]!
  const operation = String(p.operation ?? 'insert')
  const many = { many: true }
  switch (operation) {
    case 'executeQuery': {
      const query = typeof p.query === 'string' ? p.query : ''
      if (query.replace(/^=/, '').trim() === '') throw new NotFilled('it has no statement')
      // A model writes the whole statement.
      if (/^=?\s*\{\{[^{}]*\$fromAI\([^{}]*\}\}\s*;?\s*$/.test(query))
        return step.each((at) => written(step, at, dialect), many)
      const statements = statementsOf(query, dialect)
      if (statements.length === 0) throw new NotFilled('it has no statement')
      return step.each((at) => statements.map((one) => run(step, at, dialect, one)).at(-1)!, many)
    }
    case 'select':
      return step.each((at) => select(step, at, dialect), many)
    case 'insert':
    case 'upsert':
    case 'update':
      return step.each((at) => write(step, at, dialect, operation), many)
    case 'deleteTable':
      return step.each((at) => remove(step, at, dialect), many)
    default:
      throw new NotConvertible(`the operation "${operation.slice(0, 40)}" of a database is not mapped`)
  }
}
