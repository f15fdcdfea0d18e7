import pg from 'pg'
import type { BenchDatabase } from '../database.ts'
import { makeBenchPerson, post } from '../world.ts'

// The tools of an attack. An attack is a separate tenant: it signs in, saves what it needs and attacks through the HTTP
// interface only. It ends by itself; the benchmark watches a neighbour in the meantime. Data that would take a tenant
// months is written to the database in advance.

export type Tenant = {
  workspaceId: string
  key: string
  /** Returns responses of any status. The body is read, because an attacker reads it too. */
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; bytes: number; text: string }>
  post(path: string, body: unknown): Promise<Record<string, string>>
}

export type World = {
  base: string
  /** Signs up another tenant. */
  tenant(): Promise<Tenant>
  /** Writes a history that would take hours to create over HTTP. */
  write(sql: string, values: unknown[]): Promise<void>
}

export type Attack = {
  name: string
  /** Describes the attack in a sentence. */
  does: string
  /** Additional settings of the service for this attack. */
  settings?: Record<string, string>
  /**
   * Saves data before the neighbour is watched. Returns the attack itself, which returns a description of its result.
   */
  prepare(world: World): Promise<() => Promise<string>>
}

export const worldOf = (base: string, database: BenchDatabase): World => ({
  base,
  write: async (sql, values) => {
    const client = new pg.Client(database.urls.owner)
    await client.connect()
    await client.query(sql, values)
    await client.end()
  },
  tenant: async () => {
    const { key, workspaceId } = await makeBenchPerson(database)
    return {
      key,
      workspaceId,
      ask: async (method, path, body) => {
        const response = await fetch(base + path, {
          method,
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        const text = await response.text()
        return { status: response.status, bytes: text.length, text }
      },
      post: (path, body) => post(base, path, key, body),
    }
  },
})

export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

/** Counts the responses: `3 × 202, 1 × 422 invalid`. */
export const tally = (words: string[]): string => {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].map(([word, count]) => `${count} × ${word}`).join(', ')
}

/** Saves a workflow and runs it `count` times at once. Waits for all executions and returns how they ended. */
export async function runAtOnce(
  tenant: Tenant,
  definition: unknown,
  { count, input = {} }: { count: number; input?: unknown },
): Promise<() => Promise<string>> {
  const { workflow_id } = await tenant.post('/api/workflows', { name: 'Hostile', definition })
  return async () => {
    const answers = await Promise.all(
      times(count, () => tenant.ask('POST', `/api/workflows/${workflow_id}/run?wait_s=60`, { input })),
    )
    return tally(answers.map(outcome))
  }
}

export function outcome({ status, text }: { status: number; text: string }): string {
  try {
    const {
      status: state,
      error,
      code,
    } = JSON.parse(text) as {
      status?: unknown
      error?: { code: string } | null
      code?: string
    }
    return [status, typeof state === 'string' ? state : undefined, error?.code ?? code].filter(Boolean).join(' ')
  } catch {
    return String(status)
  }
}
