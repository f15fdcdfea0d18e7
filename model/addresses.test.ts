import { expect, test } from 'vitest'
import { type Piece, piecesOf } from './addresses.ts'

const HERE = 'https://heddle.example'
const file = `/files/file_${'0'.repeat(26)}/ws_${'0'.repeat(26)}.1795000000.${'a'.repeat(43)}`

test.each<[string, Piece[]]>([
  ['', []],
  ['Hello', [{ text: 'Hello' }]],
  ['https://a.example/x?y=1#z', [{ text: 'https://a.example/x?y=1#z', url: 'https://a.example/x?y=1#z' }]],
  ['See http://a.example.', [{ text: 'See ' }, { text: 'http://a.example', url: 'http://a.example' }, { text: '.' }]],
  [
    '(https://a.example/b)',
    [{ text: '(' }, { text: 'https://a.example/b', url: 'https://a.example/b' }, { text: ')' }],
  ],
  [
    '"u": "https://a.example"',
    [{ text: '"u": "' }, { text: 'https://a.example', url: 'https://a.example' }, { text: '"' }],
  ],
  ['javascript:alert(1) data:text/html,x //a.example', [{ text: 'javascript:alert(1) data:text/html,x //a.example' }]],
  ['https://', [{ text: 'https://' }]],
  ['https://[', [{ text: 'https://[' }]],
  [`letter.txt: ${HERE}${file}`, [{ text: 'letter.txt: ' }, { text: 'Download', url: HERE + file }]],
  // On another host, the same path is not a file of the service.
  [`https://evil.example${file}`, [{ text: `https://evil.example${file}`, url: `https://evil.example${file}` }]],
  [`${HERE}/files/x`, [{ text: `${HERE}/files/x`, url: `${HERE}/files/x` }]],
])('%s', (text, pieces) => {
  expect(piecesOf(text, HERE)).toEqual(pieces)
})
