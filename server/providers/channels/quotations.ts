// Finds the text that a person wrote in a mail, without quotations and without the signature.

/**
 * Lines that introduce a quotation. Mail programs write them in the language of the person. They contain a date, so
 * that a sentence such as "Am Montag schrieb ich Ihnen:" is not one.
 */
const INTRODUCTIONS = [
  /^on .{5,300}wrote:$/i,
  /^am (?=.*\d).{5,300}schrieb\b.{0,200}:$/i,
  /^le (?=.*\d).{5,300}a écrit\s?:$/i,
  /^el (?=.*\d).{5,300}escribió:$/i,
  /^(?:den|(?:man|tirs?|ons|tors?|fre|lør|søn)(?:dag|\.)?,?|\d{1,2}\.) (?=.*\d).{5,300}skrev\b.{0,200}:$/i,
]
const MAX_INTRODUCTION = 600
/** Mail programs break long lines. */
const LINES_OF_INTRODUCTION = 3

/** Lines above a quotation without marks, in the languages of the service. */
const SEPARATORS = [
  /^-- ?$/,
  /^-{2,} ?(original message|forwarded message|ursprüngliche nachricht|weitergeleitete nachricht)/i,
  /^-{2,} ?(message d['’]origine|message transféré|mensaje original|mensaje reenviado)/i,
  /^-{2,} ?(opprinnelig melding|videresendt melding)/i,
]

/** The head of a quoted mail: its sender, its date and, some lines later, its subject. */
const SENDER = /^(from|von|de|fra)\s?: ?\S/i
const DATE = /^(sent|date|gesendet|datum|envoyé|enviado( el)?|fecha|sendt|dato)\s?: ?\S/i
const SUBJECT = /^(subject|betreff|objet|asunto|emne)\s?:/i
const LINES_OF_HEAD = 6
const RULE = /^_{5,}$/

export function withoutQuotations(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const end = lines.findIndex(
    (line, at) =>
      line !== '' && (SEPARATORS.some((form) => form.test(line)) || isHead(lines, at) || isIntroduction(lines, at)),
  )
  return (end === -1 ? lines : lines.slice(0, end)).filter((line) => !line.startsWith('>')).join('\n')
}

function isHead(lines: readonly string[], at: number): boolean {
  const from = RULE.test(lines[at]!.trim()) ? at + 1 : at
  // Some programs put the words of a head between asterisks.
  const [sender = '', date = '', ...others] = lines
    .slice(from, from + LINES_OF_HEAD)
    .map((line) => line.slice(0, MAX_INTRODUCTION).replaceAll('*', '').trim())
  return SENDER.test(sender) && DATE.test(date) && others.some((line) => SUBJECT.test(line))
}

function isIntroduction(lines: readonly string[], at: number): boolean {
  const near = lines.slice(at, at + LINES_OF_INTRODUCTION).map((line) => line.trim())
  const last = near.findIndex((line) => line === '' || line.endsWith(':'))
  const whole = near.slice(0, last + 1).join(' ')
  return whole.length <= MAX_INTRODUCTION && INTRODUCTIONS.some((form) => form.test(whole))
}
