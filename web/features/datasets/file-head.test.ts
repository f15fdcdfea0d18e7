import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { csvRows, headOf, readHead } from './file-head.ts'

test.each([
  [
    'a,b\n1,2\n',
    ',',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'a,b\r\n"x, y","say ""hi"""\r\n',
    ',',
    [
      ['a', 'b'],
      ['x, y', 'say "hi"'],
    ],
  ],
  [
    'a;b\n"two\nlines";2',
    ';',
    [
      ['a', 'b'],
      ['two\nlines', '2'],
    ],
  ],
  ['a\n\n1\n', ',', [['a'], ['1']]],
  [
    'a,b\n,\n',
    ',',
    [
      ['a', 'b'],
      ['', ''],
    ],
  ],
])('csvRows parses %j', (text, delimiter, rows) => {
  expect(csvRows(text, delimiter, 10)).toEqual(rows)
})

test.each([
  ['name;city\nAda;London', { columns: ['name', 'city'], rows: [['Ada', 'London']] }],
  ['\uFEFFa\tb\n1\t2', { columns: ['a', 'b'], rows: [['1', '2']] }],
  ['[{"a":1,"b":[2]}]', { columns: ['a', 'b'], rows: [['1', '[2]']] }],
  ['[{"a":{"x":1}},{"a":2},{"a":', { columns: ['a'], rows: [['{"x":1}'], ['2']] }],
  [
    '{"a":"x"}\n{"b":true}\n',
    {
      columns: ['a', 'b'],
      rows: [
        ['x', ''],
        ['', 'true'],
      ],
    },
  ],
  ['   ', null],
  ['[1, 2]', null],
])('headOf parses %j', (text, head) => {
  expect(headOf(text)).toEqual(head)
})

test('a gzipped file is decompressed', async () => {
  const file = new Blob([gzipSync('a,b\n1,2\n')])
  expect(headOf(await readHead(file))).toEqual({ columns: ['a', 'b'], rows: [['1', '2']] })
})
