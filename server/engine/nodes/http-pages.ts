import { type NodeCall, NodeFailure } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { evaluateOver } from '#model/expressions'
import { isObject } from '#model/json'
import { jsonSize, MAX_VALUE_SIZE } from '#model/size'
import { fields } from './kind.ts'

// Fetches a response that consists of pages. Each page is journalled, so a crash or a failed page does not repeat the
// pages before it. Pages that are too large for the journal are fetched again.

const MAX_PAGES = 1_000
const DEFAULT_PAGES = 100
const MAX_JOURNALLED = 256 * 1024

const cel = (title: string, description: string) => ({
  ...fields({ $cel: { type: 'string', minLength: 1, 'x-editor': 'cel' } }, ['$cel']),
  'x-value': 'condition',
  title,
  description,
})

export const paginateField = {
  ...fields(
    {
      next: cel(
        'Next page',
        'A URL, or an object with "url", "query", "headers", "json" or "body" to change; null after the last page. Sees "response" {status, headers, body} and "page", which starts at 0',
      ),
      items: cel('Items', 'The list of items in each page, such as response.body.results'),
      max_pages: {
        type: 'integer',
        title: 'Max pages',
        description: 'If there are more results, "more" in the output is true',
        minimum: 1,
        maximum: MAX_PAGES,
        default: DEFAULT_PAGES,
      },
    },
    ['next', 'items'],
  ),
  title: 'Paginate',
  description: 'Fetches all pages and returns all items',
  'x-value': 'literal',
  'x-roots': ['response', 'page'],
}

type Page = { items: Json[]; next: Json; status: number }

const CHANGEABLE = new Set(['url', 'query', 'headers', 'json', 'body'])

const invalid = (message: string): NodeFailure => new NodeFailure('pagination_invalid', message, { retryable: false })

/**
 * Returns the arguments of the next request: the result of the expression, merged over the arguments of the first
 * request.
 */
export function nextArgs(first: JsonObject, next: Json): JsonObject | undefined {
  if (next === null || next === '' || next === false) return undefined
  const change = typeof next === 'string' ? { url: next } : next
  if (!isObject(change)) throw invalid('"next" must give a URL, an object or null')
  const unknown = Object.keys(change).find((key) => !CHANGEABLE.has(key))
  if (unknown !== undefined) throw invalid(`"next" cannot change "${unknown.slice(0, 64)}"`)
  const merged: JsonObject = { ...first, ...change }
  for (const key of ['query', 'headers'])
    if (isObject(first[key]) && isObject(change[key])) merged[key] = { ...first[key], ...change[key] }
  if (change.json !== undefined) delete merged.body
  if (change.body !== undefined) delete merged.json
  // The address of the next page already contains the query.
  if (typeof change.url === 'string' && change.query === undefined) delete merged.query
  return { ...merged, url: addressOf(String(first.url), change.url) }
}

/**
 * Returns the address of the next page. It must have the origin of the first page, so that a server cannot send the
 * request headers to another host.
 */
function addressOf(first: string, next: Json | undefined): string {
  if (next === undefined) return first
  if (typeof next !== 'string' || !URL.canParse(next, first)) throw invalid('the address of the next page is not a URL')
  const url = new URL(next, first)
  if (url.origin !== new URL(first).origin) throw invalid('the next page is on another host than the first')
  return url.href
}

const pageOf = (args: JsonObject, response: JsonObject, page: number): Page => {
  const { items, next } = args.paginate as { items: { $cel: string }; next: { $cel: string } }
  const over = { response, page }
  const list = evaluateOver(items.$cel, over)
  if (!Array.isArray(list)) throw invalid('"items" must give a list')
  return { items: list, next: evaluateOver(next.$cel, over), status: Number(response.status) }
}

export async function fetchPages(
  call: Pick<NodeCall, 'args' | 'step' | 'progress'>,
  send: (args: JsonObject, page: number) => Promise<JsonObject>,
): Promise<JsonObject> {
  const { args } = call
  const most = Number((args.paginate as JsonObject).max_pages ?? DEFAULT_PAGES)
  const items: Json[] = []
  let size = 0
  let request: JsonObject | undefined = args
  let status = 0
  let pages = 0
  for (; request && pages < most; pages += 1) {
    const [asked, page]: [JsonObject, number] = [request, pages]
    // A page that is too large for the journal is kept only during this attempt.
    let large: Page | undefined
    const kept = await call.step<Json>(`page ${page}`, async () => {
      const found = pageOf(args, await send(asked, page), page)
      if (jsonSize(found, MAX_JOURNALLED) <= MAX_JOURNALLED) return found as unknown as Json
      large = found
      return null
    })
    const found: Page = large ?? (kept as unknown as Page | null) ?? pageOf(args, await send(asked, page), page)
    size += jsonSize(found.items, MAX_VALUE_SIZE)
    if (size > MAX_VALUE_SIZE)
      throw new NodeFailure('result_too_large', 'the items of all pages are larger than 8 MiB; ask for fewer pages', {
        retryable: false,
      })
    items.push(...found.items)
    status = found.status
    request = nextArgs(args, found.next)
    call.progress({ pages: page + 1, items: items.length })
  }
  return { status, items, pages, more: request !== undefined }
}
