import { randomBytes } from 'node:crypto'

// Text of strangers inside a prompt. Nobody can write the closing line, because it is drawn anew for every prompt, and
// nothing in it can hide: characters that a person would not see are spelt out.

export type Fence = { begin: string; end: string; around(text: string): string }

export const makeFence = (): Fence => {
  const mark = randomBytes(16).toString('hex')
  const begin = `<<<DATA ${mark}>>>`
  const end = `<<<END OF DATA ${mark}>>>`
  return { begin, end, around: (text) => `${begin}\n${visible(text)}\n${end}` }
}

/** Controls, formats (tags, bidi, zero width), private use, fillers and variation selectors. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu

export const visible = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(HIDDEN, (character) =>
      character === '\n' || character === '\t' ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
    )

/** The beginning and the end of a text that is too long, and between them how much was left out. */
export const clip = (text: string, longest: number): { text: string; left_out: number } => {
  if (text.length <= longest) return { text, left_out: 0 }
  const head = Math.ceil(longest * 0.7)
  const tail = longest - head
  const left_out = text.length - longest
  const middle = `\n[… ${left_out} characters left out here …]\n`
  return { text: `${text.slice(0, head)}${middle}${text.slice(text.length - tail)}`.toWellFormed(), left_out }
}
