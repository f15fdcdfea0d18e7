import type { Json, JsonObject } from '#model/definition'
import { isExpression } from '#model/expressions'
import { isObject } from '#model/json'
import { type Exit, outputOf } from '../flow.ts'
import { NotConvertible, NotFilled } from '../js-ast.ts'
import { celOut, fieldsOut, type Out, pathOut, quote } from '../out.ts'
import type { Scope } from '../scope.ts'
import type { Place, Step } from '../step.ts'
import { addCall, chosen, columnsOf } from './service-call.ts'

// Google Sheets: n8n writes rows by column name, the vendor by column position. The first row shows the position of
// each column.

const SERVICE = 'google_sheets'

function spreadsheet(step: Step, scope: Scope): Json {
  const raw = chosen(step.p.documentId ?? step.p.sheetId)
  const text =
    typeof raw === 'string'
      ? raw.replace(/^(=?)https:\/\/docs\.google\.com\/spreadsheets\/d\/([\w-]+).*$/, '$1$2')
      : raw
  if (text === undefined || text === null || text === '') return ''
  return step.text(text, scope, 'documentId')
}

/** Returns the name of a sheet; n8n may know only its number. */
function sheetName(step: Step, scope: Scope): Json {
  const { p } = step
  const raw = p.sheetName ?? p.range
  if (isObject(raw) && raw.__rl === true) {
    if (typeof raw.cachedResultName === 'string' && raw.cachedResultName !== '') return raw.cachedResultName
    if (raw.mode === 'name') return step.text(raw.value, scope, 'sheetName')
    if (raw.value === 'gid=0') {
      step.remark('the first sheet is assumed to be called "Sheet1": correct the name if it differs')
      return 'Sheet1'
    }
    if (raw.value === '' || raw.value === undefined) return ''
    if (typeof raw.value === 'string' && raw.value.startsWith('=')) return step.text(raw.value, scope, 'sheetName')
    step.remark('only the number of the sheet is known: enter its name')
    return String(raw.value)
  }
  return step.text(raw ?? 'Sheet1', scope, 'sheetName')
}

const rangeOf = (sheet: Json, cells: string): Json => {
  if (isExpression(sheet))
    return {
      $cel: `${'$cel' in (sheet as JsonObject) ? String((sheet as JsonObject).$cel) : String((sheet as JsonObject).$ref)} + ${quote(`!${cells}`)}`,
    }
  return `${/^[A-Za-z0-9_]+$/.test(String(sheet)) ? String(sheet) : `'${String(sheet).replaceAll("'", "''")}'`}!${cells}`
}

type Mapped = { values: Json; order: string[] | undefined; match: string[] }

/** Returns the values by column, and the order of the columns if the template contains it. */
function mapped(step: Step, scope: Scope): Mapped {
  const { p } = step
  const columns = isObject(p.columns) ? p.columns : undefined
  if (columns) {
    const schema = Array.isArray(columns.schema)
      ? columns.schema
          .filter(isObject)
          .map(({ id }) => String(id))
          .filter((id) => id !== 'row_number')
      : []
    const isAuto = columns.mappingMode === 'autoMapInputData'
    const match = Array.isArray(columns.matchingColumns) ? columns.matchingColumns.map(String) : []
    return { values: columnsOf(step, columns, scope), order: isAuto || schema.length === 0 ? undefined : schema, match }
  }
  const fields = isObject(p.fieldsUi) ? (p.fieldsUi.values ?? p.fieldsUi.fieldValues) : undefined
  if (Array.isArray(fields)) {
    const values: JsonObject = {}
    for (const one of fields.filter(isObject))
      values[String(one.column ?? one.fieldId ?? '')] = step.value(one.fieldValue, scope, String(one.column ?? ''))
    return { values, order: undefined, match: [String(p.columnToMatchOn ?? '')] }
  }
  return {
    values: step.guarded(scope.input.paired()),
    order: undefined,
    match: [String(p.columnToMatchOn ?? p.key ?? '')],
  }
}

function append(step: Step, at: Place): Out {
  const sheet = sheetName(step, at.scope)
  const id = spreadsheet(step, at.scope)
  const { values, order } = mapped(step, at.scope)
  if (order && isObject(values) && !isExpression(values)) {
    const row = order.map((name) => values[name] ?? '')
    addCall(step, at, SERVICE, 'append_rows', { spreadsheet_id: id, range: sheet, rows: [row] })
    return fieldsOut(Object.fromEntries(Object.entries(values).map(([key, value]) => [key, asOut(value)])))
  }
  const header = addCall(step, at, SERVICE, 'get_values', { spreadsheet_id: id, range: rangeOf(sheet, '1:1') })
  const kept = at.add('set', { values })
  const cells = `nodes.${header}.output?.values[0].orValue([]).map(k, nodes.${kept}.output[?k].orValue(""))`
  addCall(step, at, SERVICE, 'append_rows', { spreadsheet_id: id, range: sheet, rows: [{ $cel: cells }] })
  return outputOf(kept)
}

const asOut = (value: Json): Out => {
  if (isObject(value) && typeof value.$cel === 'string') return celOut(value.$cel)
  if (isObject(value) && typeof value.$ref === 'string') return celOut(refCel(value.$ref))
  return celOut(JSON.stringify(value), typeof value === 'string' ? 'text' : 'any')
}
const refCel = (ref: string): string =>
  pathOut(
    [...ref.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([A-Za-z_]\w*)/g)].map(([, quoted, number, name]) =>
      quoted !== undefined ? (JSON.parse(`"${quoted}"`) as string) : number !== undefined ? Number(number) : name!,
    ),
  ).cel

/**
 * Reads the sheet, finds the row by its columns, and writes the row; if no row matches, appends it after the last row.
 */
function update(step: Step, at: Place, isUpsert: boolean): Out {
  const sheet = sheetName(step, at.scope)
  const id = spreadsheet(step, at.scope)
  const { values, match } = mapped(step, at.scope)
  const keys = match.filter((name) => name !== '')
  if (keys.length === 0) throw new NotFilled('google_sheets: it names no column to find the row by')
  const table = addCall(step, at, SERVICE, 'get_values', { spreadsheet_id: id, range: sheet })
  const found = at.add('code', {
    input: { rows: { $cel: `nodes.${table}.output?.values.orValue([])` }, values, sheet },
    source: `const [header = [], ...rows] = input.rows
const keys = ${JSON.stringify(keys)}
const fits = (row, at) => keys.every((key) => key === 'row_number' ? Number(input.values[key]) === at + 2 : String(row[header.indexOf(key)] ?? '') === String(input.values[key] ?? ''))
const at = rows.findIndex(fits)
${isUpsert ? '' : "if (at < 0) throw new Error('no row matches')\n"}const before = at < 0 ? [] : rows[at]
const number = at < 0 ? rows.length + 2 : at + 2
const sheet = /^\\w+$/.test(input.sheet) ? input.sheet : "'" + input.sheet.replaceAll("'", "''") + "'"
return { range: sheet + '!A' + number, row: header.map((name, column) => input.values[name] ?? before[column] ?? ''), values: input.values }`,
  })
  addCall(step, at, SERVICE, 'update_values', {
    spreadsheet_id: id,
    range: { $ref: `nodes.${found}.output.range` },
    rows: [{ $ref: `nodes.${found}.output.row` }],
  })
  step.remark('the row is found by reading the sheet, and the whole row is written')
  return pathOut(['nodes', found, 'output', 'values'])
}

function read(step: Step, at: Place): Out {
  const { p } = step
  const options = isObject(p.options) ? p.options : {}
  const filters = isObject(p.filtersUI) && Array.isArray(p.filtersUI.values) ? p.filtersUI.values.filter(isObject) : []
  const id = addCall(step, at, SERVICE, 'read_rows', {
    spreadsheet_id: spreadsheet(step, at.scope),
    range: sheetName(step, at.scope),
  })
  const rows = outputOf(id)
  if (filters.length === 0) return rows
  const tests = filters.map(
    (one) =>
      `x[?${quote(String(one.lookupColumn ?? ''))}].orValue(null) == ${step.out(one.lookupValue, at.scope, 'lookupValue').cel}`,
  )
  const cel = `${rows.cel}.filter(x, ${tests.join(p.combineFilters === 'OR' ? ' || ' : ' && ')})`
  const isFirst =
    options.returnFirstMatch === true ||
    (isObject(options.returnAllMatches) ? options.returnAllMatches : options.returnAllMatches) === 'returnFirstMatch'
  return celOut(isFirst ? `${cel}.slice(0, 1)` : cel, 'list')
}

export function sheets(step: Step): Exit[] {
  const { p } = step
  const resource = String(p.resource ?? 'sheet')
  const operation = String(p.operation ?? (resource === 'spreadsheet' ? 'create' : 'read'))
  if (resource === 'spreadsheet') {
    if (operation !== 'create')
      throw new NotConvertible(`google_sheets: the operation "spreadsheet ${operation}" is not mapped`)
    return step.each((at) =>
      outputOf(addCall(step, at, SERVICE, 'create_spreadsheet', { title: step.text(p.title, at.scope, 'title') })),
    )
  }
  switch (operation) {
    case 'read':
    case 'lookup':
    case 'getAll':
      return step.each((at) => read(step, at), { many: true })
    case 'append':
      return step.each((at) => append(step, at))
    case 'appendOrUpdate':
    case 'upsert':
      return step.each((at) => update(step, at, true))
    case 'update':
      return step.each((at) => update(step, at, false))
    case 'clear':
      return step.each((at) =>
        outputOf(
          addCall(step, at, SERVICE, 'clear_values', {
            spreadsheet_id: spreadsheet(step, at.scope),
            range: sheetName(step, at.scope),
          }),
        ),
      )
    case 'create':
      return step.each((at) =>
        outputOf(
          addCall(step, at, SERVICE, 'add_sheet', {
            spreadsheet_id: spreadsheet(step, at.scope),
            title: step.text(p.title, at.scope, 'title'),
          }),
        ),
      )
    default:
      throw new NotConvertible(`google_sheets: the operation "${operation.slice(0, 40)}" is not mapped`)
  }
}
