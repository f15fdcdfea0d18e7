import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '#model/definition'
import { toWire } from '#platform/ids'
import { checkColumns, checkMapping, checkOnlyIf, checkTargets, prepareInput, recipeHash, wants } from '../recipe.ts'
import { datasetChanged, tooManyFailures } from './errors.ts'
import { executionIdOf } from './ids.ts'
import { makePages, plan } from './pages.ts'
import { countsOf, makeProgress } from './progress.ts'
import { workspacesWithoutRoom } from './room.ts'
import type { Run } from './runs.ts'

// The rules of docs/jobs.md that need no database.

const RUN = '0190a000-1234-7000-8000-000000000001'
const DATASET = '0190a000-0000-7000-8000-000000000002'
const runOf = (more: Partial<Run>): Run => ({ run_id: RUN, stop_on_error_rate: 0.5, ...more }) as Run

describe('more failures than the rate among at least 100 records end a run', () => {
  test.each<[number | null, number, number, boolean]>([
    [0.5, 50, 50, false],
    [0.5, 49, 51, true],
    [0.5, 0, 99, false],
    [0.5, 0, 100, true],
    [0, 99, 1, true],
    [0, 100, 0, false],
    [1, 0, 200, false],
    [null, 0, 1_000, false],
  ])('rate %s, %i succeeded, %i failed: %s', (stop_on_error_rate, succeeded, failed, ends) => {
    const error = tooManyFailures(runOf({ stop_on_error_rate }), { succeeded, failed })
    expect(error?.code).toBe(ends ? 'error_rate' : undefined)
    if (ends) expect(error?.message).toContain(`${failed} of ${succeeded + failed} records failed`)
  })
})

test.each<[string | null, string | null, string]>([
  [DATASET, 'new', 'had the fingerprint old when the run began and now has new'],
  [DATASET, null, 'with the fingerprint old was deleted'],
  [null, null, 'with the fingerprint old was deleted'],
])('a changed dataset %s is told with both fingerprints (%s)', (dataset_id, is, text) => {
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

  test('is another one for every run, position and try, and the same one again', () => {
    const other = '0190a000-1234-7000-8000-000000000009'
    const all = [id(0), id(1), id(0x10), id(0x100), id(0x1000), id(0x100000), id(0x1000000), id(0, 2), id(0, 1, other)]
    expect(new Set(all).size).toBe(all.length)
    expect(id(0)).toBe(all[0])
    expect(id(0, 1, other)).toBe(all.at(-1))
    expect(id(0, 0x101)).toBe(id(0, 1))
  })

  test('holds the position and the try', () => {
    expect(id(0x12345678, 0x9a)).toMatch(/^0190a000-1234-7123-.456-789a/)
  })

  // Another release that takes a run over must come to the same ids, or it would begin finished records again.
  test('is the same in every release', () => {
    expect(id(0x12345678, 0x9a)).toBe('0190a000-1234-7123-b456-789a81543df0')
    expect(id(0, 1, '0190a000-1234-7000-8000-000000000009')).toBe('0190a000-1234-7000-a000-0001f00cd4ec')
  })

  test('stands beside its neighbours', () => {
    const ids = [0, 1, 2, 4_095, 4_096, 70_000].map((position) => id(position))
    expect([...ids].sort()).toEqual(ids)
  })
})

describe('a record', () => {
  test.each<[string | null, object]>([
    [null, { wanted: true, error: null }],
    ['record.n > 1', { wanted: true, error: null }],
    ['record.n > 5', { wanted: false, error: null }],
    ['record.absent > 5', { wanted: true, error: { code: 'only_if_failed' } }],
  ])('with only_if %s', (onlyIf, expected) => {
    expect(plan('{"n":3}', onlyIf)).toMatchObject(expected)
  })

  test('has the SHA-256 of its canonical text', () => {
    expect(plan('{}', null).sha256).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a')
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
  const hash = (sha: string, mapping: JsonObject | null, only_if: string | null) =>
    recipeHash(sha, { mapping, only_if }).toString('hex')
  test('is the same as long as definition, mapping and only_if are', () => {
    const first = hash('a', { x: 1, y: 2 }, 'true')
    expect(hash('a', { y: 2, x: 1 }, 'true')).toBe(first)
    expect(
      new Set([first, hash('b', { x: 1, y: 2 }, 'true'), hash('a', null, 'true'), hash('a', { x: 1, y: 2 }, null)])
        .size,
    ).toBe(4)
  })

  test('names the record only', () => {
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
  ])('for inputs %j: fields that it does not take are %j', (inputs, expected) => {
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

  test('four are kept; the one that was read first goes first', async () => {
    const { pages, read } = make()
    for (const position of [0, 2, 4, 6, 0, 8, 2, 0]) await pages.textAt(position)
    expect(read).toEqual([0, 2, 4, 6, 8, 0])
  })

  test('give at most as many records as are asked for, from their page', async () => {
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
  const tally = (succeeded: number, failed = 0, skipped = 0) => ({ total: 10, running: 1, succeeded, failed, skipped })
  test('counts what is left as pending', () => {
    expect(countsOf(tally(2, 3, 1))).toEqual({ pending: 3, running: 1, succeeded: 2, failed: 3, skipped: 1 })
  })

  test('tells the rate since the first of these seconds', () => {
    const progress = makeProgress({ run_id: RUN })
    for (const at of [0, 1_000]) progress(tally(at / 500), at)
    expect(progress(tally(2), 2_000)).toMatchObject({ rate: 1 })
  })

  test.each<[string, [at: number, done: number][], number]>([
    [
      'two samples, however far apart',
      [
        [0, 0],
        [20_000, 4],
      ],
      0.2,
    ],
    [
      'a sample of ten seconds ago',
      [
        [0, 0],
        [5_000, 5],
        [10_000, 5],
      ],
      0.5,
    ],
    [
      'not one from before',
      [
        [0, 0],
        [5_000, 5],
        [10_001, 5],
      ],
      0,
    ],
    [
      'at one moment no rate',
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

  test('tells the rate over the last ten seconds and when it will be over', () => {
    const progress = makeProgress({ run_id: RUN })
    expect(progress(tally(0), 0)).toMatchObject({
      run_id: toWire('run', RUN),
      total: 10,
      rate: 0,
      estimated_end_at: null,
    })
    expect(progress(tally(1, 1), 1_000)).toMatchObject({ rate: 2, estimated_end_at: new Date(5_000).toISOString() })
    // The first sample is older than ten seconds and no longer counts.
    expect(progress(tally(1, 1, 1), 11_000)).toMatchObject({ rate: 0.1 })
    expect(progress(tally(1, 1, 1), 12_000)).toMatchObject({ rate: 0, estimated_end_at: null })
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
    ['64 that wait beside seven', [...waiting('a', 64), ...busy('a', 7)], []],
    ['65 that wait beside seven', [...waiting('a', 65), ...busy('a', 7)], ['a']],
    ['63 runs of as many workspaces', many(63), []],
    [
      '64 runs: who has one gets no other',
      [...many(64), ...waiting('a', 1)],
      many(64).map(({ workspaceId }) => workspaceId),
    ],
  ])('%s', (_what, runs, expected) => {
    expect(workspacesWithoutRoom(runs)).toEqual(expected)
  })
})
