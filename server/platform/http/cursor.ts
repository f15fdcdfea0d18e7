import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { notACursor } from './page.ts'

// A cursor is a position in one list, which is defined by its operation, path, filters and order. In another list it
// would be a wrong position. So each cursor starts with a digest of its list.

const DIGEST = 8

/** Parameters that may differ between pages of one list. */
const notOfTheList = new Set(['cursor', 'limit'])

export function listOf(operation: string, params: Record<string, string>, request: FastifyRequest): string {
  const query = Object.entries(request.query as Record<string, unknown>).filter(([name]) => !notOfTheList.has(name))
  const text = JSON.stringify([operation, Object.entries(params).sort(byName), query.sort(byName)])
  return createHash('sha256').update(text).digest('base64url').slice(0, DIGEST)
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)

export const bindCursor = (list: string, cursor: string): string => `${list}${cursor}`

export function unbindCursor(list: string, cursor: string): string {
  if (!cursor.startsWith(list)) throw notACursor()
  return cursor.slice(DIGEST)
}
