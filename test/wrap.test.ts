import { expect, test } from 'vitest'
import { MAX_LINE, overlongLines, wrapDocument } from '../scripts/wrap.ts'

const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ')
const long = words(40)
const linesOf = (text: string): string[] => wrapDocument(text).split('\n')

test.each([
  ['a paragraph', `# Title\n\n${long}\n`, 3],
  ['a list item', `- ${words(10)}\n- ${long}\n`, 2],
  ['the second line of a list item', `1. word\n   ${long}\n`, 2],
  ['an item below an item', `- word\n  - ${long}\n`, 2],
])('a line that is too long is found in %s', (_, text, line) => {
  expect(overlongLines(new Map([['docs/a.md', text]]))).toEqual([
    `docs/a.md has lines of more than ${MAX_LINE} characters: ${line} (npm run format)`,
  ])
  expect(overlongLines(new Map([['docs/a.md', wrapDocument(text)]]))).toEqual([])
})

test.each([
  ['code', `\`\`\`sh\n${long}\n\`\`\`\n`],
  ['a table', `| a |\n|---|\n| ${long} |\n`],
  ['a definition of a link', `[docs]: https://example.com/${long}\n`],
  ['a heading', `# ${long}\n`],
  ['a word that cannot be wrapped', `https://example.com/${'a'.repeat(MAX_LINE)}\n`],
  ['lines that are short enough', `${words(28)}\nword\n`],
])('%s stays as it is', (_, text) => {
  expect(wrapDocument(text)).toBe(text)
  expect(overlongLines(new Map([['docs/a.md', text]]))).toEqual([])
})

test('lines of a list item are indented, and its words are unchanged', () => {
  const [first, second] = linesOf(`  - ${long}`)
  expect(first).toMatch(/^ {2}- word( word)+$/)
  expect(second).toMatch(/^ {4}word( word)+$/)
  expect(`${first} ${second!.trim()}`).toBe(`  - ${long}`)
  expect(linesOf(`- word\n- ${long}\n- word`)).toHaveLength(4)
})

test('code in a sentence is not split, and no line starts like a list item', () => {
  const fill = 'a'.repeat(MAX_LINE - 6)
  expect(linesOf(`${fill} \`GET /api/files\``)).toEqual([fill, '`GET /api/files`'])
  expect(linesOf(`${fill} word - word`)).toEqual([fill, 'word - word'])
  const listed = `\`${words(30)}\``
  expect(linesOf(listed)).toHaveLength(2)
  expect(linesOf(`${listed} ${words(25)} \`GET /api/files\``).at(-1)).toContain('`GET /api/files`')
})
