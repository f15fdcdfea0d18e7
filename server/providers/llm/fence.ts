import { randomBytes } from 'node:crypto'

// Encloses untrusted text in a prompt. No author can forge the closing line, because it is random for every prompt, and
// nothing in the text can hide: invisible characters are spelled out.

export type Fence = { begin: string; end: string; around(text: string): string }

export const makeFence = (): Fence => {
  const mark = randomBytes(16).toString('hex')
  const begin = `<<<DATA ${mark}>>>`
  const end = `<<<END OF DATA ${mark}>>>`
  return { begin, end, around: (text) => `${begin}\n${visible(text)}\n${end}` }
}

/** Control characters, format characters (tags, bidi, zero width), private use, fillers and variation selectors. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu

export const visible = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(HIDDEN, (character) =>
      character === '\n' || character === '\t' ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
    )

/** Returns the beginning and the end of a text that is too long, with the number of omitted characters between them. */
export const clip = (text: string, longest: number): { text: string; left_out: number } => {
  if (text.length <= longest) return { text, left_out: 0 }
  const head = Math.ceil(longest * 0.7)
  const tail = longest - head
  const left_out = text.length - longest
  const middle = `\n[… ${left_out} characters left out here …]\n`
  return { text: `${text.slice(0, head)}${middle}${text.slice(text.length - tail)}`.toWellFormed(), left_out }
}
