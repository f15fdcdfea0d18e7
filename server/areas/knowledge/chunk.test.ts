import { describe, expect, test } from 'vitest'
import { chunkText } from './chunk.ts'
import { linksIn } from './crawl.ts'
import { textOfRows } from './extract.ts'
import { fused } from './search.ts'
import { highlightsIn, searchable } from './text.ts'

const characters = (text: string, from: number, to: number): string => [...text].slice(from, to).join('')

describe('a text is split', () => {
  test('at its headings, each passage with the path of its headings', () => {
    const text = '# A\n\nOne.\n\n## B\n\nTwo.\n\n# C\n\nThree.'
    expect(chunkText(text).map(({ heading, text: body }) => [heading, body])).toEqual([
      [['A'], '# A\n\nOne.'],
      [['A', 'B'], '## B\n\nTwo.'],
      [['C'], '# C\n\nThree.'],
    ])
  })

  test('not at a line in code that looks like a heading', () => {
    const chunks = chunkText('# A\n\n```sh\n# not a heading\n\nls\n```\n\nAfter.')
    expect(chunks.map(({ heading }) => heading)).toEqual([['A']])
  })

  test.each([
    ['paragraphs', 'A sentence of some words. '.repeat(30).trim() + '\n\n' + 'Another one. '.repeat(120).trim()],
    ['one long line', 'word '.repeat(2_000).trim()],
    ['no space at all', 'x'.repeat(5_000)],
    ['surrogate pairs', '😀'.repeat(3_000)],
    ['lines', Array.from({ length: 300 }, (_, n) => `line ${n}`).join('\n')],
  ])('into passages of limited size with their positions: %s', (_what, text) => {
    const chunks = chunkText(text)
    expect(chunks.length).toBeGreaterThan(1)
    let last = 0
    for (const { from, to, text: body } of chunks) {
      expect(body.length).toBeLessThanOrEqual(2_000)
      expect(body.isWellFormed()).toBe(true)
      expect(characters(text, from, to)).toBe(body)
      expect(characters(text, last, from).trim()).toBe('')
      last = to
    }
    expect(last).toBe([...text].length)
  })

  test.each(['', '\n\n  \n'])('into no passages if it is empty: %j', (text) => {
    expect(chunkText(text)).toEqual([])
  })
})

test.each([
  ['see [the page](https://example.com/a_b) now', 'see  the page                           now'],
  ['http.request and MAX_FILE_BYTES', 'http request and MAX FILE BYTES'],
])('the searchable form of %j is %j', (text, read) => {
  expect(searchable(text)).toBe(read)
  expect(searchable(text)).toHaveLength(text.length)
})

test('marked words are returned as positions, and adjacent words as one', () => {
  expect(highlightsIn('a \u0001big\u0002 \u0001dog\u0002 and a \u0001cat\u0002')).toEqual([
    [2, 9],
    [16, 19],
  ])
})

test('a crawl continues with pages of the same host, each once', () => {
  const page =
    '[a](/a) [a again](/a#part) [b](b?x=1) [away](https://other.example/) [here](https://site.example/x/) [picture](/p.png) [mail](mailto:a@b.c) [port](https://site.example:8443/)'
  expect(linksIn(page, 'https://site.example/x/', 10)).toEqual([
    'https://site.example/a',
    'https://site.example/x/b?x=1',
  ])
  expect(linksIn(page, 'https://site.example/x/', 1)).toHaveLength(1)
})

test('rows become paragraphs, under a heading if a column names them', () => {
  const rows = [
    { name: 'Desk', price: 12, note: '' },
    { name: 'Lamp', price: null, note: 'bright' },
  ]
  expect(textOfRows(rows)).toBe('name: Desk\nprice: 12\n\nname: Lamp\nnote: bright')
  expect(textOfRows(rows, ['price', 'note'], 'name')).toBe('# Desk\n\nprice: 12\n\n# Lamp\n\nnote: bright')
})

test('two rankings are merged by their ranks', () => {
  const at = (position: number) => ({ document_id: 'd', position })
  expect(fused([at(1), at(2), at(3)], [at(3), at(4)]).map(({ position }) => position)).toEqual([3, 1, 2, 4])
})
