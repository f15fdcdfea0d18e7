import type { Node } from 'oxc-parser'
import type { ListSource } from '#platform/http/list'
import { Evaluator } from './evaluate.ts'
import { type Module, Modules } from './modules.ts'
import { type Fields, fieldsOf } from './row-type.ts'

// Collects every SQL statement of the program: the first argument of a transaction's method.

export type Statement = {
  /** `server/areas/teams/store.ts:12` */
  place: string
  text: string
  /** The columns that the code reads, if the row type is declared. */
  fields: Fields | undefined
}

/** A call of `readList`, whose statements are derived from a declaration. */
export type ListCall = { place: string; file: string; name: string; source: ListSource; fields: Fields | undefined }

export type Collected = { statements: Statement[]; lists: ListCall[]; unresolved: { place: string; reason: string }[] }

const VERBS = new Set(['rows', 'row', 'maybe', 'count', 'send', 'maintain'])
/** Functions whose second argument is the text, and whose type argument is the type of the row. */
const HELPERS = new Set(['query', 'pageRows'])
const SQL = /^\s*(?:select|insert|update|delete|with|merge|values|lock|call|truncate|analyze|set|notify)\b/i

/** `files`: the files whose statements are collected. `sources`: all files, so that imports can be followed. */
export function collectStatements(sources: Map<string, string>, files: string[]): Collected {
  const modules = new Modules(sources)
  const evaluator = new Evaluator(modules, files)
  const statements: Statement[] = []
  const lists: ListCall[] = []
  const unresolved: Collected['unresolved'] = []
  for (const file of files) {
    const module = modules.at(file)
    for (const node of module.parents.keys()) {
      const place = `${file}:${module.source.slice(0, node.start).split('\n').length}`
      if (isReadList(node)) {
        const found = listCallsOf(modules, evaluator, module, node)
        lists.push(...found.calls.map((call) => ({ place, ...call })))
        for (const reason of found.unresolved) unresolved.push({ place, reason })
        continue
      }
      const sql = sqlOf(module, node)
      if (!sql) continue
      const fields = sql.row && fieldsOf(modules, module, sql.row)
      const found = evaluator.textsOf(module, sql.text)
      for (const text of found.texts) if (SQL.test(text)) statements.push({ place, text, fields })
      for (const reason of found.unresolved) unresolved.push({ place, reason })
    }
  }
  return { statements, lists, unresolved }
}

type Call = Extract<Node, { type: 'CallExpression' }>

const isReadList = (node: Node): node is Call =>
  node.type === 'CallExpression' &&
  node.callee.type === 'Identifier' &&
  node.callee.name === 'readList' &&
  node.typeArguments !== null

function listCallsOf(
  modules: Modules,
  evaluator: Evaluator,
  module: Module,
  node: Call,
): { calls: Omit<ListCall, 'place'>[]; unresolved: string[] } {
  const [, list, , source] = node.arguments
  const binding = list?.type === 'Identifier' ? modules.find(module, list, list.name) : undefined
  if (list?.type !== 'Identifier' || binding?.kind !== 'value')
    return { calls: [], unresolved: ['the list is not a constant'] }
  if (source?.type !== 'ObjectExpression')
    return { calls: [], unresolved: ['the source of the list is not written out'] }
  const textsOf = (name: string) => {
    const field = source.properties.find(
      (one) => one.type === 'Property' && one.key.type === 'Identifier' && one.key.name === name,
    )
    return field?.type === 'Property' ? evaluator.textsOf(module, field.value) : undefined
  }
  const [sql, each, size] = [textsOf('sql'), textsOf('each'), textsOf('size')]
  const row = node.typeArguments?.params[0]
  const fields = row && fieldsOf(modules, module, row)
  const calls = [...(sql?.texts ?? [])].flatMap((text) =>
    [...(each?.texts ?? [undefined])].flatMap((eachText) =>
      [...(size?.texts ?? [undefined])].map((sizeText) => ({
        file: binding.module.file,
        name: list.name,
        source: { sql: text, ...(eachText && { each: eachText }), ...(sizeText && { size: sizeText }) },
        fields,
      })),
    ),
  )
  return { calls, unresolved: [sql, each, size].flatMap((found) => [...(found?.unresolved ?? [])]) }
}

function sqlOf(module: Module, node: Node): { text: Node; row: Node | undefined } | undefined {
  if (node.type !== 'CallExpression') return undefined
  if (node.callee.type === 'Identifier' && HELPERS.has(node.callee.name) && node.typeArguments) {
    const text = node.arguments[1]
    return text && text.type !== 'SpreadElement' ? { text, row: node.typeArguments.params[0] } : undefined
  }
  if (node.callee.type !== 'MemberExpression') return undefined
  const { object, property } = node.callee
  const [first] = node.arguments
  if (property.type !== 'Identifier' || !first || first.type === 'SpreadElement') return undefined
  const row = node.typeArguments?.params[0]
  if (VERBS.has(property.name) && isTransaction(module, object, property.name)) return { text: first, row }
  if (property.name !== 'query') return undefined
  if (first.type !== 'ObjectExpression') return { text: first, row }
  const text = first.properties.find(
    (field) => field.type === 'Property' && field.key.type === 'Identifier' && field.key.name === 'text',
  )
  return text?.type === 'Property' ? { text: text.value, row } : undefined
}

/** Recognises transactions by their usual names: `tx`, `ctx.tx`, `db.maintain`. */
function isTransaction(module: Module, object: Node, verb: string): boolean {
  const text = module.source.slice(object.start, object.end)
  return verb === 'maintain' ? /\bdb$/i.test(text) : /(?:^|\.|\b)tx$/i.test(text) || /^(?:scoped|inside)$/.test(text)
}
