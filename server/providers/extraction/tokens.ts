import type { Span } from './index.ts'
import { before, matches } from './text.ts'

// Finds values that are recognisable by their format alone, for any requirement.

export type Token = Span & { text: string; sure: number }

const all = (
  text: string,
  pattern: RegExp,
  read: (match: RegExpExecArray) => { text: string; sure: number } | undefined,
): Token[] =>
  matches(text, pattern)
    .map((match) => {
      const token = read(match)
      return token && { ...token, from: match.index, to: match.index + match[0].length }
    })
    .filter((token) => token !== undefined)

export const findEmails = (text: string): Token[] =>
  all(
    text,
    /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,5}/gu,
    ([email]) => ({
      text: email.replace(/[.-]+$/, ''),
      sure: 1,
    }),
  )

export const findUrls = (text: string): Token[] => [
  ...all(text, /\bhttps?:\/\/[^\s<>"'`]+/giu, ([url]) => ({ text: trimUrl(url), sure: 1 })),
  ...all(
    text,
    /(?<![\w@/.:-])(?:www\.)?[a-z0-9-]{2,40}(?:\.[a-z0-9-]{2,40})?\.(?:com|org|net|io|dev|app|eu|de|fr|uk|co\.uk|info|ai)(?:\/[^\s<>"'`]*)?(?![\w@])/giu,
    ([url]) => ({
      text: `https://${trimUrl(url)}`,
      sure: 0.85,
    }),
  ),
]

const trimUrl = (url: string) => {
  const trimmed = url.replace(/[.,;:!?]+$/, '')
  return trimmed.endsWith(')') && !trimmed.includes('(') ? trimmed.slice(0, -1) : trimmed
}

/**
 * Accepts digits in groups, with a plus sign, or after a word for telephones. Other long numbers may be order numbers.
 */
export const findPhones = (text: string): Token[] =>
  all(text, /(?<![\p{L}\p{N}_#./-])(?:\+\s?\d|\(\d|\d)(?:[\s()./-]{0,2}\d){6,14}(?![\p{L}\p{N}_-])/gu, (match) => {
    const raw = match[0]
    const digits = raw.replace(/\D/g, '')
    const said = /\b(?:phone|tel(?:ephone)?|mobile|cell|call|reach|ring|text|whatsapp|dial|fax)\b[^.\n]{0,30}$/i.test(
      before(text, match.index),
    )
    const grouped = /\d[\s().-]+\d{2,}[\s().-]+\d{2,}/.test(raw) || /^\(/.test(raw)
    if (/^(?:19|20)\d{2}[-/.]\d{1,2}[-/.]\d{1,2}$/.test(raw) || /^\d{1,3}(?:[ .]\d{3})+$/.test(raw)) return undefined
    if (raw.startsWith('+')) return { text: `+${digits}`, sure: 1 }
    if (digits.length < 7 || !(said || grouped || /^0\d{8,}/.test(digits))) return undefined
    return { text: digits, sure: said ? 0.97 : 0.92 }
  })

export const findQuoted = (text: string): Token[] =>
  all(
    text,
    /"([^"\n]{1,500})"|“([^”\n]{1,500})”|«([^»\n]{1,500})»|(?<![\p{L}\p{N}])'([^'\n]{2,200})'(?![\p{L}\p{N}])/gu,
    (match) => ({
      text: (match[1] ?? match[2] ?? match[3] ?? match[4] ?? '').trim(),
      sure: 1,
    }),
  ).filter(({ text: quoted }) => quoted !== '')
