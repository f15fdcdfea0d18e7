import { describe, expect, test } from 'vitest'
import { firstIdAt } from '#platform/ids'
import { type Block, idAt, makeBlock, mergeBlocks, pageAt, runsBetween, runsWith } from './block.ts'
import { chooseBlocks } from './merging.ts'
import { termsOf, wantedTerms, wordTerm } from './terms.ts'

const idOf = (n: number): string => firstIdAt(1_000_000 + n)
const with_ = (block: Block, ...terms: number[]): string[] =>
  runsWith(
    block.runs,
    terms.map((term) => {
      const { at, length } = pageAt(block.dir, term)
      return { term, page: block.data.subarray(at, at + length) }
    }),
  ).map((run) => idAt(block.ids, run))

/**
 * Execution `n` has the term 7, a term derived from `n`, 1,000 if `n` is even, and 4,000,000,000 if `n` is a multiple
 * of 3.
 */
const terms = (n: number): number[] => [
  7,
  0x10000 + (Math.imul(n, 2654435761) ** 2 % 0xefffffff),
  ...(n % 2 === 0 ? [1_000] : []),
  ...(n % 3 === 0 ? [4_000_000_000] : []),
]
const numbers = (from: number, to: number, step = 1): number[] =>
  Array.from({ length: Math.ceil((to - from) / step) }, (_, at) => from + at * step)
const blockOf = (all: number[]): Promise<Block> =>
  makeBlock(all.map((n) => ({ id: idOf(n), terms: new Set(terms(n)) })))

describe('a block', () => {
  test.each([1, 2, 100, 5_000])(
    'of %i executions finds those with the wanted terms, in any order of insertion',
    async (size) => {
      const block = await blockOf(numbers(0, size).toReversed())
      expect([block.runs, block.firstId, block.lastId]).toEqual([size, idOf(0), idOf(size - 1)])
      expect(with_(block, 7)).toEqual(numbers(0, size).map(idOf))
      expect(with_(block, 1_000, 7, 4_000_000_000)).toEqual(numbers(0, size, 6).map(idOf))
      for (const n of numbers(0, size, 97)) expect(with_(block, terms(n)[1]!)).toContain(idOf(n))
      for (const nothing of [0, 8, 999, 4_294_967_295]) expect(with_(block, nothing)).toEqual([])
      expect(with_(block, 8, 7)).toEqual([])
    },
  )

  test('merged from other blocks equals a block of all their executions', async () => {
    const parts = await Promise.all([blockOf(numbers(0, 3_000, 2)), blockOf(numbers(1, 3_000, 2)), blockOf([5_000])])
    const merged = await mergeBlocks(parts)
    const whole = await blockOf([...numbers(0, 3_000), 5_000])
    expect(merged).toEqual(whole)
  })

  test('narrows down which of its executions can be between two ids', async () => {
    const { runs, samples } = await blockOf(numbers(0, 1_000))
    expect(runsBetween(runs, samples, idOf(0), idOf(2_000))).toEqual([0, 1_000])
    expect(runsBetween(runs, samples, idOf(300), idOf(600))).toEqual([256, 768])
    expect(runsBetween(runs, samples, idOf(512), idOf(512))).toEqual([512, 512])
  })
})

describe('merging blocks', () => {
  const many = (count: number, runs: number, pairs = runs * 10) =>
    Array.from({ length: count }, (_, at) => ({ block_id: `${runs}-${at}`, runs, pairs }))
  test.each([
    ['fifteen blocks with one execution each', many(15, 1), 0],
    ['sixteen blocks with one execution each', many(16, 1), 16],
    ['sixteen blocks of two sizes', [...many(8, 1), ...many(8, 100)], 0],
    ['sixteen blocks with a hundred executions each', many(16, 100), 16],
    ['sixteen blocks that together are too small for a full block', many(16, 300), 0],
    ['only the blocks that fit into one, by executions', many(60, 300), 54],
    ['only the blocks that fit into one, by pairs', many(10, 1_000, 100_000), 4],
    ['a block with the maximum number of pairs', many(1, 300, 500_000), 0],
  ])('chooses the blocks to merge: %s', (_, blocks, chosen) => {
    expect(chooseBlocks(blocks)).toHaveLength(chosen)
  })
})

test('hashes of words are evenly distributed and deterministic', () => {
  const hashes = Array.from({ length: 20_000 }, (_, n) => wordTerm(`word ${n}`))
  expect(new Set(hashes).size).toBeGreaterThan(19_995)
  const pages = new Uint32Array(256)
  for (const hash of hashes) pages[hash >>> 24]! += 1
  expect(Math.max(...pages)).toBeLessThan(160)
  expect(wordTerm('ada')).toBe(wordTerm('ada'))
})

test('the terms of a query are a subset of the terms of a matching execution', () => {
  const wanted = {
    q: 'Ada  LOVELACE ada',
    input: [{ path: ['a', 'b'], value: '1' }],
    versionId: 'v',
    workflowId: 'w',
    status: ['failed'],
  }
  expect(wantedTerms(wanted)).toHaveLength(6)
  const run = {
    workflowId: 'w',
    versionId: 'v',
    status: 'failed',
    input: { a: { b: 1 }, name: 'Ada Lovelace' },
    results: null,
    error: null,
  }
  const held = termsOf(run)
  expect(wantedTerms(wanted).filter((term) => !held.has(term))).toEqual([])
  expect(wantedTerms({ ...wanted, status: ['succeeded'] }).filter((term) => !held.has(term))).toHaveLength(1)
  // Several statuses are alternatives, so they add no term.
  expect(wantedTerms({ ...wanted, status: ['failed', 'cancelled'] })).toHaveLength(5)
  expect(wantedTerms({ q: '—', input: [], versionId: null, workflowId: 'w', status: ['failed'] })).toEqual([])
})
