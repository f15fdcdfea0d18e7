import { describe, expect, it } from 'vitest'
import { lineIn, linesAround } from './bad-line.ts'
import { figuresOf } from './figures.ts'
import { readRecords } from './read-records.ts'

describe('the figures of a column', () => {
  it('of numbers are the mean, the median, the ends and a histogram', () => {
    const records = Array.from({ length: 100 }, (_, n) => ({ n }))
    const figures = figuresOf(records, 'n')
    expect(figures).toMatchObject({ kind: 'number', min: 0, max: 99, mean: 49.5, median: 49.5, distinct: 100 })
    expect('bars' in figures && figures.bars.reduce((sum, { count }) => sum + count, 0)).toBe(100)
  })

  it('of texts are counts, unless no text repeats', () => {
    expect(figuresOf([{ a: 'x' }, { a: 'x' }, { a: 'y' }], 'a')).toMatchObject({
      bars: [
        { label: 'x', count: 2 },
        { label: 'y', count: 1 },
      ],
    })
    expect(
      figuresOf(
        Array.from({ length: 20 }, (_, n) => ({ a: `t${n}` })),
        'a',
      ),
    ).toMatchObject({ distinct: 20, bars: [] })
  })

  it('of missing values are empty, and mixed values are reported as other', () => {
    expect(figuresOf([{ a: null }, {}], 'a')).toEqual({ kind: 'empty' })
    expect(figuresOf([{ a: 1 }, { a: [1] }], 'a')).toEqual({ kind: 'other' })
  })
})

it('the line in an error message is shown with its neighbours', async () => {
  const file = new Blob(['a,b\n1,2\n3\n4,5\n'])
  expect(lineIn('Line 3: has 1 cell. Nothing was stored.')).toBe(3)
  expect(await linesAround(file, 3)).toEqual([
    { number: 2, text: '1,2', bad: false },
    { number: 3, text: '3', bad: true },
    { number: 4, text: '4,5', bad: false },
  ])
  expect((await linesAround(file, 1)).map(({ number, bad }) => [number, bad])).toEqual([
    [1, true],
    [2, false],
  ])
})

it('typed records must be a list of objects, and a wrong record is named', () => {
  expect(readRecords('[{"a":1}]')).toEqual([{ a: 1 }])
  expect(() => readRecords('{"a":1}')).toThrow('must be a list')
  expect(() => readRecords('[{"a":1}, 2]')).toThrow('Record 2')
})
