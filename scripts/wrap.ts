import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// Paragraphs and list items of Markdown have lines of at most 140 characters, as .editorconfig says. `npm run format`
// wraps those with longer lines; `npm run check` refuses them. Tables, code, headings and definitions of links stay as
// they are, and so do documents that `npm run generate` prints.

export const MAX_LINE = 140

const DOCUMENTS = ['*.md', '.github/**/*.md', 'docs/*.md', 'docs/decisions/*.md', 'web/*.md']
const GENERATED = ['docs/access.md', 'docs/nodes.md', 'docs/settings.md']

export function readDocuments(root: string): Map<string, string> {
  const files = globSync(DOCUMENTS, { cwd: root, exclude: GENERATED }).sort()
  return new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
}

const FENCE = /^ *(```|~~~)/
const ITEM = /^ *(?:[-*+]|\d+[.)]) +/
const UNWRAPPED = /^ *(?:\||#|<|>|\[[^\]]+\]:|$)/
/** A line that starts with such a word would be an item, a heading, a quote, a table or an underline. */
const MARKER = /^(?:[-*+>=|]+|#+|\d+[.)])$/

/** Code that is longer, such as a list of functions, is split at its spaces. */
const MAX_CODE = 80
const CODE_OR_SPACE = /(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)| +/g

/** Splits a text at its spaces, except those inside of code and those before a word that may not start a line. */
function wordsOf(text: string): string[] {
  const marked = text.replaceAll(CODE_OR_SPACE, (part) =>
    part.startsWith(' ') || part.length > MAX_CODE ? part.replaceAll(/ +/g, '\n') : part,
  )
  return marked.split('\n').reduce<string[]>((words, word) => {
    if (MARKER.test(word) && words.length > 0) words.push(`${words.pop()} ${word}`)
    else words.push(word)
    return words
  }, [])
}

const lengthOf = (line: string): number => [...line].length

function wrapParagraph(lines: string[]): string[] {
  if (lines.every((line) => lengthOf(line) <= MAX_LINE)) return lines
  const start = ITEM.exec(lines[0]!)?.[0] ?? /^ */.exec(lines[0]!)![0]
  const [first = '', ...rest] = wordsOf(
    [lines[0]!.slice(start.length), ...lines.slice(1)].map((line) => line.trim()).join(' '),
  )
  const wrapped = [start + first]
  for (const word of rest) {
    const longer = `${wrapped.at(-1)} ${word}`
    if (lengthOf(longer) <= MAX_LINE) wrapped.splice(-1, 1, longer)
    else wrapped.push(' '.repeat(start.length) + word)
  }
  return wrapped
}

export function wrapDocument(text: string): string {
  const wrapped: string[] = []
  let paragraph: string[] = []
  let isCode = false
  const endParagraph = (): void => {
    wrapped.push(...wrapParagraph(paragraph))
    paragraph = []
  }
  for (const line of text.split('\n')) {
    if (isCode || FENCE.test(line) || UNWRAPPED.test(line)) {
      endParagraph()
      wrapped.push(line)
      if (FENCE.test(line)) isCode = !isCode
    } else {
      if (ITEM.test(line)) endParagraph()
      paragraph.push(line)
    }
  }
  endParagraph()
  return wrapped.join('\n')
}

/** Reports documents with lines that are too long and can be wrapped. */
export function overlongLines(documents: Map<string, string>): string[] {
  return [...documents].flatMap(([file, text]) => {
    const kept = new Set(wrapDocument(text).split('\n'))
    const numbers = text
      .split('\n')
      .flatMap((line, at) => (kept.has(line) || lengthOf(line) <= MAX_LINE ? [] : [at + 1]))
    return numbers.length === 0
      ? []
      : [`${file} has lines of more than ${MAX_LINE} characters: ${numbers.join(', ')} (npm run format)`]
  })
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  for (const [file, text] of readDocuments(root)) {
    const wrapped = wrapDocument(text)
    if (wrapped !== text) writeFileSync(join(root, file), wrapped)
  }
}
