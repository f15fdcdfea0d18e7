import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { NotConvertible } from '../js-ast.ts'
import { listOf } from '../lenient.ts'
import { truth } from '../out.ts'
import type { Scope } from '../scope.ts'
import type { Step } from '../step.ts'
import { outOf } from '../templates.ts'

// Pagination of an n8n request, whose rules use the last response and the number of pages, becomes `paginate` of
// http.request.

/** Placeholders for `$response` and `$pageCount` while an expression is converted. */
const ANSWER = 'answer_of_the_page'
const COUNT = 'count_of_pages'
const OUTSIDE = /\b(?:nodes|input|item|index|vars|state|execution)\b\s*[.[?]/

const readsAnswer = (raw: Json | undefined): boolean => typeof raw === 'string' && /\$response\b/.test(raw)

/** Converts a value to CEL over `response` and the number of fetched pages. */
function celOf(raw: Json | undefined, scope: Scope, count: string, isCondition = false): string {
  if (typeof raw !== 'string') return JSON.stringify(raw ?? null)
  if (/\$request\b/.test(raw)) throw new NotConvertible('its pages depend on the request before')
  const of = outOf(raw.replaceAll(/\$response\b/g, `$vars.${ANSWER}`).replaceAll(/\$pageCount\b/g, `$vars.${COUNT}`), {
    ...scope,
    place: undefined,
  })
  const cel = (isCondition ? truth(of) : of.cel)
    .replaceAll(`vars.${ANSWER}`, 'response')
    .replaceAll(`vars.${COUNT}`, count)
    .replaceAll('response?.statusCode', 'response?.status')
  if (OUTSIDE.test(cel)) throw new NotConvertible('its pages depend on the item')
  return cel
}

/** Returns the condition that there is no further page. */
function isLast(held: JsonObject, scope: Scope): string {
  const when = String(held.paginationCompleteWhen ?? 'responseIsEmpty')
  if (when === 'other') return celOf(held.completeExpression, scope, '(page + 1)', true)
  if (when !== 'receiveSpecificStatusCodes') return '(response.body in [null, "", [], {}])'
  const codes = String(held.statusCodesWhenComplete ?? '')
    .split(',')
    .map(Number)
    .filter((code) => Number.isInteger(code) && code > 0)
  return `(response.status in [${codes.join(', ')}])`
}

export type Paging = { paginate: JsonObject; first: { query: JsonObject; headers: JsonObject } }

export function pagingOf(step: Step, scope: Scope): Paging | undefined {
  const options = isObject(step.p.options) ? step.p.options : {}
  const outer = isObject(options.pagination) ? options.pagination : undefined
  const held = outer && isObject(outer.pagination) ? outer.pagination : outer
  if (!held || Object.keys(held).length === 0 || held.paginationMode === 'off') return undefined
  const first: Paging['first'] = { query: {}, headers: {} }
  const change = held.paginationMode === 'responseContainsNextURL' ? nextUrl(held, scope) : changes(held, scope, first)
  const most = Number(held.maxRequests ?? 100)
  const isBound = held.limitPagesFetched === true && Number.isInteger(most) && most > 0
  return {
    first,
    paginate: {
      next: { $cel: `${isLast(held, scope)} ? null : ${change}` },
      items: { $cel: '(type(response.body) == list ? response.body : [response.body])' },
      ...(isBound && { max_pages: Math.min(1_000, most) }),
    },
  }
}

const nextUrl = (held: JsonObject, scope: Scope): string => `dyn(${celOf(held.nextURL, scope, '(page + 1)')})`

/**
 * Returns the parameters that change with each page. Parameters that do not use a response are also part of the first
 * request.
 */
function changes(held: JsonObject, scope: Scope, first: Paging['first']): string {
  const parameters = listOf(isObject(held.parameters) ? held.parameters.parameters : undefined)
  if (parameters.length === 0) throw new NotConvertible('its pages change nothing')
  const parts = { query: [] as string[], headers: [] as string[] }
  for (const { name, value, type } of parameters) {
    if (type === 'body') throw new NotConvertible('its pages are requested in the body')
    const place = type === 'headers' ? 'headers' : 'query'
    const key = String(name ?? '')
    if (key === '' || key.startsWith('=')) throw new NotConvertible('a parameter of its pages has a computed name')
    parts[place].push(`${JSON.stringify(key)}: string(${celOf(value, scope, '(page + 1)')})`)
    if (!readsAnswer(value)) first[place][key] = { $cel: `string(${celOf(value, scope, '0')})` }
  }
  const shown = (['query', 'headers'] as const)
    .filter((place) => parts[place].length > 0)
    .map((place) => `"${place}": {${parts[place].join(', ')}}`)
  return `dyn({${shown.join(', ')}})`
}
