import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '#model/definition'
import { toWire } from '#platform/ids'
import {
  checkColumns,
  checkMapping,
  checkOnlyIf,
  checkTargets,
  legacyRecipeHash,
  prepareInput,
  recipeHash,
  wants,
} from '../recipe.ts'
import { datasetChanged } from './errors.ts'
import { executionIdOf } from './ids.ts'
import { addSpent, capReached, spentOf, startsUnderCap, tooManyFailures } from './limits.ts'
import { outputRecord } from './output.ts'
import { makePages } from './pages.ts'
import { type PlanBy, plan } from './plan.ts'
import { countsOf, makeProgress } from './progress.ts'
import { workspacesAtLimit } from './run-limits.ts'
import type { Run } from './runs.ts'
import { backoffAfter, DEFAULT_RETRY, type Ending, failNodesOf, verdictOf } from './verdict.ts'

// The rules of docs/jobs.md that need no database.

const RUN = '0190a000-1234-7000-8000-000000000001'
const DATASET = '0190a000-0000-7000-8000-000000000002'
const runOf = (more: Partial<Run>): Run => ({ run_id: RUN, stop_on_error_rate: 0.5, ...more }) as Run

describe('the error rate ends a run after at least 100 first attempts', () => {
  test.each<[number | null, number, number, boolean]>([
    [0.5, 50, 50, false],
    [0.5, 49, 51, true],
    [0.5, 0, 99, false],
    [0.5, 0, 100, true],
    [0, 99, 1, true],
    [0, 100, 0, false],
    [1, 0, 200, false],
    [null, 0, 1_000, false],
  ])('rate %s, %i succeeded, %i failed: %s', (stop_on_error_rate, first_succeeded, first_failed, ends) => {
    const error = tooManyFailures({ stop_on_error_rate }, { first_succeeded, first_failed })
    expect(error?.code).toBe(ends ? 'error_rate' : undefined)
    if (ends) expect(error?.message).toContain(`${first_failed} of ${first_succeeded + first_failed} records failed`)
  })
})

describe('a limit of cost or tokens', () => {
  const caps = (max_cost: number | null, max_tokens: number | null) => ({ max_cost, max_tokens })
  test.each<[number | null, number | null, number, number, boolean]>([
    [null, null, 1e9, 1e9, false],
    [2, null, 1.99, 1e9, false],
    [2, null, 2, 0, true],
    [null, 100, 1e9, 99, false],
    [null, 100, 0, 100, true],
    [2, 100, 1, 100, true],
  ])('max_cost %s, max_tokens %s, spent %d and %d tokens: %s', (cost, tokens, spent, used, ends) => {
    expect(capReached(caps(cost, tokens), { cost: spent, tokens: used })?.code).toBe(ends ? 'cost_limit' : undefined)
  })

  test.each<[string, number | null, number | null, { cost: number; tokens: number }, number, number, number]>([
    ['any number without a limit', null, null, { cost: 9, tokens: 9 }, 3, 5, Number.POSITIVE_INFINITY],
    ['four before the cost of one is known', 1, null, { cost: 0, tokens: 0 }, 0, 0, 4],
    ['minus the running executions', 1, null, { cost: 0, tokens: 0 }, 0, 3, 1],
    ['only what the rest of the limit allows', null, 100, { cost: 0, tokens: 40 }, 4, 0, 6],
    ['a fraction is rounded up', null, 100, { cost: 0, tokens: 45 }, 3, 0, 4],
    ['none if the running executions use up the limit', null, 100, { cost: 0, tokens: 40 }, 4, 6, 0],
    ['never a negative number', null, 100, { cost: 0, tokens: 40 }, 4, 9, 0],
    ['the lower number of the two limits', 10, 100, { cost: 5, tokens: 40 }, 4, 0, 4],
    ['any number if no cost is reported', 10, null, { cost: 0, tokens: 40 }, 4, 0, Number.POSITIVE_INFINITY],
  ])('allows further executions: %s', (_what, cost, tokens, spent, ended, open, room) => {
    expect(startsUnderCap(caps(cost, tokens), spent, ended, open)).toBe(room)
  })

  test('counts input and output tokens, and the cost if it is reported', () => {
    expect(spentOf(null)).toEqual({ tokens: 0, cost: 0 })
    expect(spentOf({ input_tokens: 3, output_tokens: 4 })).toEqual({ tokens: 7, cost: 0 })
    expect(spentOf({ input_tokens: 3, cost: 0.5 })).toEqual({ tokens: 3, cost: 0.5 })
    expect(spentOf({ input_tokens: 'many', cost: null })).toEqual({ tokens: 0, cost: 0 })
    expect(addSpent({ tokens: 1, cost: 2 }, { tokens: 3, cost: 4 })).toEqual({ tokens: 4, cost: 6 })
  })
})

describe('an execution that ended', () => {
  const retry = { max_attempts: 3, backoff_s: 2, factor: 3, max_backoff_s: 10 }
  const failNodes = new Set(['boom'])
  const ending = (more: Partial<Ending>): Ending => ({
    status: 'failed',
    poison: false,
    code: null,
    node_id: null,
    http_status: null,
    step: null,
    permanent: null,
    ...more,
  })
  const FAILED = { status: 'failed', remember: true }
  const ELSEWHERE = { status: 'failed', remember: false }
  const AGAIN = { status: 'pending', again_in_s: 2 }
  test.each<[string, Partial<Ending>, number, object]>([
    ['succeeded: the record succeeds', { status: 'succeeded' }, 1, { status: 'succeeded' }],
    ['was cancelled: the next run tries the record', { status: 'cancelled' }, 1, { status: 'failed', remember: false }],
    ['timed out: the record is retried', { status: 'timed_out', code: 'timeout' }, 1, AGAIN],
    ['timed out in the last attempt: the record fails', { status: 'timed_out', code: 'timeout' }, 3, FAILED],
    ['killed its workers: the record fails', { status: 'waiting', poison: true }, 1, FAILED],
    ['failed without an error code: the record is retried', {}, 1, AGAIN],
    ['failed with an unknown code: the record is retried', { code: 'away' }, 1, AGAIN],
    [
      'failed with an unknown code a second time: the record is retried later',
      { code: 'away' },
      2,
      { status: 'pending', again_in_s: 6 },
    ],
    ['failed with an unknown code in the last attempt: the record fails', { code: 'away' }, 3, FAILED],
    ['failed with an unknown code after the last attempt: the record fails', { code: 'away' }, 4, FAILED],
    ['got a 422: the record fails', { code: 'http_status', http_status: '422' }, 1, FAILED],
    ['got a 404: the record fails', { code: 'http_status', http_status: '404' }, 1, FAILED],
    ['got a 429: the record is retried', { code: 'http_status', http_status: '429' }, 1, AGAIN],
    ['got a 408: the record is retried', { code: 'http_status', http_status: '408' }, 1, AGAIN],
    ['got a 500: the record is retried', { code: 'http_status', http_status: '500' }, 1, AGAIN],
    ['got a 503: the record is retried', { code: 'http_status', http_status: '503' }, 1, AGAIN],
    ['got a 501: the record fails', { code: 'http_status', http_status: '501' }, 1, FAILED],
    ['got an unknown status: the record fails', { code: 'http_status' }, 1, FAILED],
    [
      'could not connect to a warehouse: the record is retried',
      { code: 'warehouse_failed', step: 'connect' },
      1,
      AGAIN,
    ],
    [
      'could not resolve the host of a warehouse: the record is retried',
      { code: 'warehouse_failed', step: 'resolve' },
      1,
      AGAIN,
    ],
    ['sent an invalid statement: the record fails', { code: 'warehouse_failed', step: 'read' }, 1, FAILED],
    ['could not sign in: the next run tries the record', { code: 'warehouse_failed', step: 'sign_in' }, 1, ELSEWHERE],
    ['had no access to a credential: the next run tries the record', { code: 'credential_not_allowed' }, 1, ELSEWHERE],
    ['had no configured model: the next run tries the record', { code: 'provider_not_configured' }, 1, ELSEWHERE],
    ['had invalid arguments: the record fails', { code: 'args_invalid' }, 1, FAILED],
    ['has an unknown outcome: the record fails', { code: 'outcome_unknown' }, 1, FAILED],
    ['was refused by the model: the record fails', { code: 'provider_refused' }, 1, FAILED],
    ['found the model busy: the record is retried', { code: 'provider_busy' }, 1, AGAIN],
    ['failed with a permanent error: the record fails', { code: 'service_refused', permanent: true }, 1, FAILED],
    ['timed out with a permanent error: the record is retried', { status: 'timed_out', permanent: true }, 1, AGAIN],
    [
      'had its credential rejected: the next run tries the record',
      { code: 'credential_rejected', permanent: true },
      1,
      ELSEWHERE,
    ],
    ['exceeded the quota: the next run tries the record', { code: 'quota_exceeded', permanent: true }, 1, ELSEWHERE],
    ['failed at a fail node: the record fails', { code: 'spoiled', node_id: 'boom' }, 1, FAILED],
    [
      'failed with the code of a fail node at another node: the record is retried',
      { code: 'spoiled', node_id: 'other' },
      1,
      AGAIN,
    ],
  ])('%s', (_what, more, attempt, expected) => {
    expect(verdictOf(ending(more), attempt, { retry, failNodes })).toEqual(expected)
  })

  test('is retried with increasing delays, up to a limit', () => {
    expect([1, 2, 3, 4].map((attempt) => backoffAfter(retry, attempt))).toEqual([2, 6, 10, 10])
    expect([1, 2, 3, 4].map((attempt) => backoffAfter(DEFAULT_RETRY, attempt))).toEqual([0.5, 1, 2, 4])
  })

  test('is judged by the fail nodes of its definition, including those inside maps', () => {
    const body = { nodes: [{ id: 'deep', type: 'fail' }], edges: [] }
    const nodes = [
      { id: 'top', type: 'fail' },
      { id: 'fine', type: 'set' },
      { id: 'each', type: 'map', args: { body } },
    ]
    expect([...failNodesOf({ nodes, edges: [] } as never)].sort()).toEqual(['deep', 'top'])
  })
})

test.each<[string | null, string | null, string]>([
  [DATASET, 'new', 'had the fingerprint old when the run began and now has new'],
  [DATASET, null, 'with the fingerprint old was deleted'],
  [null, null, 'with the fingerprint old was deleted'],
])('a changed dataset %s is reported with both fingerprints (%s)', (dataset_id, is, text) => {
  const error = datasetChanged(runOf({ dataset_id, dataset_sha256: 'old' }), is)
  expect(error).toMatchObject({
    code: 'dataset_changed',
    details: { dataset_id: dataset_id && toWire('ds', dataset_id), was: 'old', is },
  })
  expect(error.message).toContain(text)
})

describe('the id of an execution', () => {
  const id = (position: number, attempt = 1, run = RUN) => executionIdOf(run, position, attempt)
  test('is a UUIDv7 with the time of the run', () => {
    for (const position of [0, 1, 0xfff, 0x1000, 0xffffffff]) {
      expect(id(position)).toMatch(/^0190a000-1234-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    }
  })

  test('differs for every run, position and attempt, and is reproducible', () => {
    const other = '0190a000-1234-7000-8000-000000000009'
    const all = [id(0), id(1), id(0x10), id(0x100), id(0x1000), id(0x100000), id(0x1000000), id(0, 2), id(0, 1, other)]
    expect(new Set(all).size).toBe(all.length)
    expect(id(0)).toBe(all[0])
    expect(id(0, 1, other)).toBe(all.at(-1))
    expect(id(0, 0x101)).toBe(id(0, 1))
  })

  test('contains the position and the attempt', () => {
    expect(id(0x12345678, 0x9a)).toMatch(/^0190a000-1234-7123-.456-789a/)
  })

  // A release that takes over a run must derive the same ids. Otherwise it would start finished records again.
  test('is the same in every release', () => {
    expect(id(0x12345678, 0x9a)).toBe('0190a000-1234-7123-b456-789a81543df0')
    expect(id(0, 1, '0190a000-1234-7000-8000-000000000009')).toBe('0190a000-1234-7000-a000-0001f00cd4ec')
  })

  test('is close to the ids of its neighbours', () => {
    const ids = [0, 1, 2, 4_095, 4_096, 70_000].map((position) => id(position))
    expect([...ids].sort()).toEqual(ids)
  })
})

describe('a record', () => {
  const by = (more: Partial<PlanBy> = {}): PlanBy => ({
    recipe_format: 2,
    mapping: null,
    only_if: null,
    key_column: null,
    ...more,
  })
  const same = (a: string, b: string, more: Partial<PlanBy>): boolean =>
    plan(a, by(more)).input === plan(b, by(more)).input
  test.each<[string | null, object]>([
    [null, { wanted: true, error: null }],
    ['record.n > 1', { wanted: true, error: null }],
    ['record.n > 5', { wanted: false, error: null }],
    ['record.absent > 5', { wanted: true, error: { code: 'only_if_failed' }, text: '{"n":3}' }],
  ])('with only_if %s', (only_if, expected) => {
    expect(plan('{"n":3}', by({ only_if }))).toMatchObject(expected)
    expect(plan('{"n":3}', by({ only_if, recipe_format: 1 }))).toMatchObject({ ...expected, input: null })
  })

  test('has the SHA-256 of its canonical text', () => {
    const sha256 = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'
    expect(plan('{}', by())).toMatchObject({ sha256, input: sha256 })
    expect(plan('{}', by({ recipe_format: 1 }))).toMatchObject({ sha256, input: null })
  })

  const size = { size: { $ref: 'record.size' } }
  test.each<[string, string, string, Partial<PlanBy>, boolean]>([
    ['a changed column without a mapping', '{"a":1,"size":2}', '{"a":9,"size":2}', {}, false],
    ['a changed column that the mapping does not use', '{"a":1,"size":2}', '{"a":9,"size":2}', { mapping: size }, true],
    ['a changed column that the mapping uses', '{"a":1,"size":2}', '{"a":1,"size":3}', { mapping: size }, false],
    [
      'the same mapped values under two keys',
      '{"k":1,"size":2}',
      '{"k":2,"size":2}',
      { mapping: size, key_column: 'k' },
      false,
    ],
    [
      'the same mapped values under one key',
      '{"a":1,"k":1,"size":2}',
      '{"a":2,"k":1,"size":2}',
      { mapping: size, key_column: 'k' },
      true,
    ],
    [
      'a CEL mapping with the same mapped values',
      '{"a":2,"size":2}',
      '{"a":3,"size":2}',
      { mapping: { size: { $cel: 'record.size' } } },
      true,
    ],
  ])('%s: the same input is %s', (_what, a, b, more, expected) => {
    expect(same(a, b, more)).toBe(expected)
  })

  test('is identified by its input, regardless of its condition and mapping', () => {
    const mapped = plan('{"size":2}', by({ mapping: size })).input
    expect(plan('{"size":2}', by({ mapping: size, only_if: 'record.size > 1' })).input).toBe(mapped)
    expect(plan('{"n":2}', by({ mapping: { size: { $ref: 'record.n' } } })).input).toBe(mapped)
  })

  test.each<[string, string, string | null, string | null]>([
    ['a text', '{"k":"a"}', 'a', null],
    ['a number', '{"k":7}', '7', null],
    ['a boolean', '{"k":false}', 'false', null],
    ['nothing', '{}', null, 'bad_key'],
    ['null', '{"k":null}', null, 'bad_key'],
    ['an empty text', '{"k":""}', null, 'bad_key'],
    ['a text that is too long', JSON.stringify({ k: 'x'.repeat(501) }), null, 'bad_key'],
    ['an object', '{"k":{}}', null, 'bad_key'],
  ])('with %s in its key column', (_what, text, key, code) => {
    const planned = plan(text, by({ key_column: 'k' }))
    expect([planned.key, planned.error?.code ?? null]).toEqual([key, code])
  })

  test('that cannot be mapped is identified by its text and the mapping', () => {
    const [broken, other] = [{ m: { $cel: 'record.x + 1' } }, { m: { $cel: 'record.x + 2' } }]
    expect(plan('{"n":1}', by({ mapping: broken }))).toMatchObject({
      error: { code: 'mapping_failed' },
      text: '{"n":1}',
    })
    expect(same('{"n":1}', '{"n":1}', { mapping: broken })).toBe(true)
    expect(same('{"n":1}', '{"n":2}', { mapping: broken })).toBe(false)
    expect(plan('{"n":1}', by({ mapping: broken })).input).not.toBe(plan('{"n":1}', by({ mapping: other })).input)
  })

  test.each<[JsonObject | null, Json, JsonObject, object]>([
    [null, true, { n: 1 }, { ok: true, input: { n: 1 } }],
    [{ m: { $ref: 'record.n' } }, true, { n: 1 }, { ok: true, input: { m: 1 } }],
    [{ m: { $cel: 'record.n + 1' } }, true, { n: 1 }, { ok: true, input: { m: 2 } }],
    [{ m: { $cel: 'record.x + 1' } }, true, { n: 1 }, { ok: false, error: { code: 'mapping_failed' } }],
    [
      null,
      { required: ['m'] },
      { n: 1 },
      { ok: false, error: { code: 'invalid_input', message: 'input/m: is required' } },
    ],
  ])('with the mapping %j for inputs %j: %j becomes %j', (mapping, inputs, record, expected) => {
    expect(prepareInput(mapping, inputs, record)).toMatchObject(expected)
  })
})

describe('a recipe', () => {
  test('consists of the definition; the legacy recipe also includes the mapping and the condition', () => {
    const legacy = (sha: string, mapping: JsonObject | null, only_if: string | null) =>
      legacyRecipeHash(sha, { mapping, only_if }).toString('hex')
    const first = legacy('a', { x: 1, y: 2 }, 'true')
    expect(legacy('a', { y: 2, x: 1 }, 'true')).toBe(first)
    const others = [legacy('b', { x: 1, y: 2 }, 'true'), legacy('a', null, 'true'), legacy('a', { x: 1, y: 2 }, null)]
    expect(new Set([first, ...others, recipeHash('a').toString('hex'), recipeHash('b').toString('hex')]).size).toBe(6)
    expect(recipeHash('a')).toEqual(recipeHash('a'))
  })

  test('may refer only to the record', () => {
    expect(checkMapping({ a: { $ref: 'record.x' }, b: { $cel: 'record.x + 1' } })).toEqual([])
    expect(checkMapping({ a: { $ref: 'input.x' } })).toMatchObject([{ path: '/mapping/a' }])
    expect(checkMapping({ a: { $ref: 'item' } }, '/m')).toMatchObject([{ path: '/m/a' }])
    expect([checkOnlyIf('record.x > 1'), checkOnlyIf('input.x > 1')]).toMatchObject([[], [{ path: '/only_if' }]])
    expect([wants('record.x', { x: true }), wants('record.x', { x: false })]).toEqual([true, false])
  })

  test.each<[Json, string[]]>([
    [true, []],
    [{ properties: { a: {} } }, []],
    [{ additionalProperties: false, properties: { a: {} } }, ['/mapping/b']],
    [{ additionalProperties: true, properties: { a: {} } }, []],
    [{ additionalProperties: false }, ['/mapping/a', '/mapping/b']],
    [{ additionalProperties: false, properties: { a: {}, b: {} } }, []],
  ])('for inputs %j: unknown target fields are %j', (inputs, expected) => {
    expect(checkTargets({ a: 1, b: 2 }, inputs).map(({ path }) => path)).toEqual(expected)
  })

  test.each<[JsonObject, string[]]>([
    [{ a: { $ref: 'record.x' } }, []],
    [{ a: { $ref: 'record.y' } }, ['/mapping/a']],
    [{ a: { $ref: 'record' } }, []],
    [{ a: { $ref: 'record..' } }, []],
    [{ a: { $cel: 'record.y' }, b: 'record.y' }, []],
  ])('over a dataset with the field x: %j names unknown fields at %j', (mapping, expected) => {
    expect(checkColumns(mapping, new Set(['x'])).map(({ path }) => path)).toEqual(expected)
  })
})

describe('pages of records', () => {
  const make = (total = 10, size = 2) => {
    const read: number[] = []
    const datasets = {
      async *readVersion(_workspaceId: string, _versionId: string, { from, to }: { from: number; to: number }) {
        read.push(from)
        const texts = Array.from({ length: Math.min(size, to - from) }, (_, n) => `r${from + n}`)
        if (texts.length > 0) yield { first: from, texts }
      },
    }
    const pages = makePages({ datasets: datasets as never, workspaceId: 'w', versionId: 'v', total })
    return { pages, read }
  }
  test('are read once and found by position', async () => {
    const { pages, read } = make()
    expect([await pages.textAt(0), await pages.textAt(1), await pages.textAt(2), await pages.textAt(1)]).toEqual([
      'r0',
      'r1',
      'r2',
      'r1',
    ])
    expect(read).toEqual([0, 2])
    expect(pages.versionId).toBe('v')
  })

  test('are kept up to four, and the one that was read first is removed first', async () => {
    const { pages, read } = make()
    for (const position of [0, 2, 4, 6, 0, 8, 2, 0]) await pages.textAt(position)
    expect(read).toEqual([0, 2, 4, 6, 8, 0])
  })

  test('return at most the requested number of records, from one page', async () => {
    const { pages } = make(10, 3)
    expect([await pages.slice(3, 1), await pages.slice(4, 1), await pages.slice(4, 9)]).toEqual([
      ['r3'],
      ['r4'],
      ['r4', 'r5'],
    ])
    expect([await pages.slice(0, 2), await pages.slice(1, 9), await pages.slice(2, 1)]).toEqual([
      ['r0', 'r1'],
      ['r1', 'r2'],
      ['r2'],
    ])
  })

  test('end with the version', async () => {
    await expect(make(1).pages.textAt(1)).rejects.toThrow('there is no record 1')
  })
})

describe('progress', () => {
  const tally = (succeeded: number, failed = 0, skipped = 0, filtered = 0) => ({
    total: 10,
    running: 1,
    succeeded,
    failed,
    skipped,
    filtered,
  })
  test('counts remaining records as pending', () => {
    expect(countsOf(tally(2, 2, 1, 1))).toEqual({
      pending: 3,
      running: 1,
      succeeded: 2,
      failed: 2,
      skipped: 1,
      filtered: 1,
    })
  })

  test('reports the rate since the first recent sample', () => {
    const progress = makeProgress({ run_id: RUN })
    for (const at of [0, 1_000]) progress(tally(at / 500), at)
    expect(progress(tally(2), 2_000)).toMatchObject({ rate: 1 })
  })

  test.each<[string, [at: number, done: number][], number]>([
    [
      'two samples, regardless of the time between them',
      [
        [0, 0],
        [20_000, 4],
      ],
      0.2,
    ],
    [
      'a sample from ten seconds ago',
      [
        [0, 0],
        [5_000, 5],
        [10_000, 5],
      ],
      0.5,
    ],
    [
      'no sample older than ten seconds',
      [
        [0, 0],
        [5_000, 5],
        [10_001, 5],
      ],
      0,
    ],
    [
      'no rate if all samples have the same time',
      [
        [5_000, 5],
        [5_000, 6],
      ],
      0,
    ],
  ])('counts %s', (_what, samples, rate) => {
    const progress = makeProgress({ run_id: RUN })
    expect(samples.map(([at, done]) => progress(tally(done), at)).at(-1)).toMatchObject({ rate })
  })

  test('reports the rate over the last ten seconds and the estimated end', () => {
    const progress = makeProgress({ run_id: RUN })
    expect(progress(tally(0), 0)).toMatchObject({
      run_id: toWire('run', RUN),
      total: 10,
      rate: 0,
      estimated_end_at: null,
    })
    expect(progress(tally(1, 1), 1_000)).toMatchObject({ rate: 2, estimated_end_at: new Date(5_000).toISOString() })
    // The first sample is older than ten seconds and no longer counts.
    expect(progress(tally(1, 1, 0, 1), 11_000)).toMatchObject({ rate: 0.1 })
    expect(progress(tally(1, 1, 0, 1), 12_000)).toMatchObject({ rate: 0, estimated_end_at: null })
  })
})

describe('room for runs', () => {
  const busy = (workspaceId: string, count: number) => Array(count).fill({ workspaceId, waits: false })
  const waiting = (workspaceId: string, count: number) => Array(count).fill({ workspaceId, waits: true })
  const many = (count: number) => Array.from({ length: count }, (_, n) => ({ workspaceId: `w${n}`, waits: false }))
  test.each<[string, { workspaceId: string; waits: boolean }[], string[]]>([
    ['nothing runs', [], []],
    ['seven runs of a workspace', busy('a', 7), []],
    ['eight runs of a workspace', [...busy('a', 8), ...busy('b', 1)], ['a']],
    ['64 runs that only wait', waiting('a', 64), []],
    ['64 waiting runs and seven busy runs', [...waiting('a', 64), ...busy('a', 7)], []],
    ['65 waiting runs and seven busy runs', [...waiting('a', 65), ...busy('a', 7)], ['a']],
    ['63 runs of 63 workspaces', many(63), []],
    [
      '64 runs of 64 workspaces, none of which gets another run',
      [...many(64), ...waiting('a', 1)],
      many(64).map(({ workspaceId }) => workspaceId),
    ],
  ])('finds the workspaces without room: %s', (_what, runs, expected) => {
    expect(workspacesAtLimit(runs)).toEqual(expected)
  })
})

describe('a record of the output', () => {
  test.each<[string, string[], JsonObject, Json, JsonObject | null, JsonObject]>([
    ['keeps the order of its columns', ['z', 'a'], { a: 1, z: 2 }, 3, null, { z: 2, a: 1, result: 3 }],
    [
      'has its other columns after the given columns',
      ['z'],
      { a: 1, b: 2, z: 3 },
      4,
      null,
      { z: 3, a: 1, b: 2, result: 4 },
    ],
    ['omits columns that it does not have', ['x', 'a'], { a: 1 }, null, null, { a: 1, result: null }],
    [
      'contains the reason of its failure',
      ['a'],
      { a: 1 },
      null,
      { code: 'c', message: 'm', details: {} },
      { a: 1, result: null, error: { code: 'c', message: 'm' } },
    ],
    [
      'has its result in place of a column with the name result',
      ['result', 'a'],
      { a: 1, result: 0 },
      5,
      null,
      { result: 5, a: 1 },
    ],
  ])('%s', (_what, columns, record, result, error, expected) => {
    expect(JSON.stringify(outputRecord(columns, { record, result, error }))).toBe(JSON.stringify(expected))
  })
})
