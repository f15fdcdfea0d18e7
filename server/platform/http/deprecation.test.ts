import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { callAt } from '#test/harness/call'
import { useSharedService } from '#test/harness/service'
import { anyone, signedIn } from '../access/rules.ts'
import { makeIdentifier } from '../auth/identify.ts'
import { checkDeprecations } from './deprecation.ts'
import { addRoutes } from './kernel.ts'
import { makeOpenApi } from './openapi/document.ts'
import { routes } from './route.ts'
import { makeHttp } from './server.ts'

const service = useSharedService()
const answer = z.object({ ok: z.boolean() })
const run = async () => ({ ok: true })
const table = routes(
  'Operations',
  {
    oldWay: ['POST', '/api/old-way', anyone],
    oldSecret: ['GET', '/api/old-secret', signedIn],
    newWay: ['POST', '/api/new-way', anyone],
  },
  {
    oldWay: {
      summary: 'The old way',
      answer,
      deprecated: {
        since: new Date('2026-01-01T00:00:00Z'),
        sunset: new Date('2026-12-31T23:59:59Z'),
        instead: 'newWay',
      },
      run,
    },
    oldSecret: {
      summary: 'The old way',
      answer,
      deprecated: { since: new Date('2026-01-01T00:00:00Z'), instead: 'newWay' },
      run,
    },
    newWay: { summary: 'The new way', answer, run },
  },
)

let base: string
let close: () => Promise<void>
beforeAll(async () => {
  const { config, db, vault, app } = service()
  const kernel = {
    config,
    db,
    vault,
    log: app.http.log as never,
    identifier: makeIdentifier({ db, operators: [] }),
    accessLevels: {} as never,
    tokens: {},
    baseUrl: () => base,
    checkAnswers: true,
  }
  const http = makeHttp(kernel)
  addRoutes(http, table, kernel)
  base = await http.listen({ host: '127.0.0.1', port: 0 })
  close = () => http.close()
})
afterAll(() => close())

describe('a deprecated operation', () => {
  const seen = async (method: string, path: string) => {
    const { status, headers } = await callAt(base, method, path)
    return [status, headers.get('deprecation'), headers.get('sunset')]
  }

  test('is announced in every response and refusal; other operations send no such headers', async () => {
    expect(await seen('POST', '/api/old-way')).toEqual([200, '@1767225600', 'Thu, 31 Dec 2026 23:59:59 GMT'])
    expect(await seen('GET', '/api/old-secret')).toEqual([401, '@1767225600', null])
    expect(await seen('POST', '/api/new-way')).toEqual([200, null, null])
  })

  test('is marked in the OpenAPI document, with its successor and its end', () => {
    const { paths } = makeOpenApi(table, []) as { paths: Record<string, Record<string, Record<string, never>>> }
    const old = paths['/api/old-way']!.post!
    expect(old).toMatchObject({
      deprecated: true,
      description: expect.stringContaining(
        'Deprecated since 2026-01-01: use `newWay` instead. It stops working on 2026-12-31.',
      ),
    })
    const headersOf = (operation: Record<string, never>, status: string) =>
      Object.keys((operation.responses as unknown as Record<string, { headers: object }>)[status]!.headers)
    expect(headersOf(old, '200')).toEqual(expect.arrayContaining(['Deprecation', 'Sunset']))
    expect(headersOf(paths['/api/old-secret']!.get!, '200')).not.toContain('Sunset')
    const current = paths['/api/new-way']!.post!
    expect(current).not.toHaveProperty('deprecated')
    expect(headersOf(current, '200')).not.toContain('Deprecation')
  })

  test('must have a successor, and at least six months until its end', () => {
    const [old] = table
    const day = 24 * 60 * 60 * 1000
    const ending = (days: number) => ({
      ...old!,
      deprecated: { since: new Date(0), sunset: new Date(days * day), instead: 'newWay' },
    })
    expect(() => checkDeprecations([ending(180), table[2]!])).not.toThrow()
    expect(() => checkDeprecations([ending(179), table[2]!])).toThrow('oldWay is deprecated for less than 180 days')
    expect(() => checkDeprecations([ending(180)])).toThrow('oldWay names the successor newWay, which does not exist')
  })
})
