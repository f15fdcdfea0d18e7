import type { Json, JsonObject } from '#model/definition'
import type { ServiceAnswer } from './answer.ts'
import type { Pages } from './manifest.ts'
import { valueAt, withValueAt } from './paths.ts'
import type { ServiceRequest } from './request.ts'

// Reads page after page. The address of the next page must have the host of the first page, so that a vendor's response
// cannot redirect the secret elsewhere.

export class PagesFailure extends Error {}

export const itemsOf = ({ items }: Pages, { body }: ServiceAnswer): Json[] => {
  const found = valueAt(body, items)
  if (found === undefined || found === null) return []
  return Array.isArray(found) ? found : [found]
}

/** Returns the request with a parameter set, in the query or in the body. */
function withParam(request: ServiceRequest, name: string, value: Json, where: 'query' | 'json'): ServiceRequest {
  if (where === 'query') {
    const url = new URL(request.url)
    url.searchParams.set(name, String(value))
    return { ...request, url }
  }
  const json = withValueAt(request.json ?? {}, name, value)
  return { ...request, json, body: { kind: 'text', text: JSON.stringify(json), contentType: 'application/json' } }
}

/** Returns the request for the first page, with a size of at most the wanted number of items. */
export function firstPage(pages: Pages, request: ServiceRequest, wanted: number): ServiceRequest {
  if (pages.size === undefined) return request
  const [name, most] = pages.size
  return withParam(request, name, Math.min(most, wanted), pages.in ?? 'query')
}

const LINK = /<([^>]*)>\s*;[^,]*\brel="?next"?/

function atAddress(request: ServiceRequest, address: string): ServiceRequest {
  if (!URL.canParse(address, request.url)) throw new PagesFailure('the address of the next page is not valid')
  const url = new URL(address, request.url)
  if (url.origin !== request.url.origin) throw new PagesFailure('the next page is on another host than the first')
  return { ...request, url }
}

/** Returns the request for the next page. Undefined after the last page. */
export function nextPage(
  pages: Pages,
  request: ServiceRequest,
  answer: ServiceAnswer,
  { page, seen }: { page: number; seen: number },
): ServiceRequest | undefined {
  const items = itemsOf(pages, answer)
  if (pages.more !== undefined && !valueAt(answer.body, pages.more)) return undefined
  if (pages.link) {
    const address = LINK.exec(answer.headers.link ?? '')?.[1]
    return address === undefined ? undefined : atAddress(request, address)
  }
  if (pages.url !== undefined) {
    const address = valueAt(answer.body, pages.url)
    return typeof address === 'string' && address !== '' ? atAddress(request, address) : undefined
  }
  if (pages.next !== undefined) {
    const token = valueAt(answer.body, pages.next)
    const isThere = token !== undefined && token !== null && token !== '' && token !== false
    return isThere ? withParam(request, pages.param ?? pages.next, token, pages.in ?? 'query') : undefined
  }
  if (items.length === 0) return undefined
  if (pages.after !== undefined) {
    const [name, field] = pages.after
    const last = valueAt(items.at(-1), field)
    return last === undefined ? undefined : withParam(request, name, last, 'query')
  }
  // With counted pages, a page that is not full is the last.
  const [sizeName, most] = pages.size ?? ['', 0]
  const asked = Number(new URL(request.url).searchParams.get(sizeName) ?? most)
  if (pages.more === undefined && pages.size !== undefined && items.length < asked) return undefined
  if (pages.page !== undefined) return withParam(request, pages.page, page + 1, pages.in ?? 'query')
  if (pages.offset !== undefined) return withParam(request, pages.offset, seen, pages.in ?? 'query')
  return undefined
}

export const pageArgs = (args: JsonObject): number => Number(args.max_items ?? 100)
