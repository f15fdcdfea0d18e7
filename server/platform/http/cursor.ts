import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { notACursor } from './page.ts'

// A cursor holds a position in one list: that of its operation, path, filters and order. In another list it would be a
// position too, and the wrong one. So each begins with a digest of the list it is of.

const DIGEST = 8

/** Pages of one list may differ in size. */
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
