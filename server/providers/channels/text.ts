import { z } from 'zod'
import { toStorableText } from '#model/storable'
import { type Attachment, InboundMalformed } from './index.ts'

/** Parses a vendor's JSON. Undefined if the body is not JSON or does not match the schema. */
export function readJson<Schema extends z.ZodType>(body: Buffer, schema: Schema): z.output<Schema> | undefined {
  let value: unknown
  try {
    value = JSON.parse(body.toString())
  } catch {
    throw new InboundMalformed('The body is not JSON.')
  }
  const read = schema.safeParse(value)
  return read.success ? read.data : undefined
}

/** The person's language tag, such as de-CH. An invalid tag counts as absent. */
export const Locale = z
  .string()
  .regex(/^[A-Za-z0-9-]{2,35}$/)
  .optional()
  .catch(undefined)

export const localeField = (locale: string | undefined): { locale?: string } => (locale === undefined ? {} : { locale })

/** A file that is embedded in JSON. */
export const InlineFile = z.object({
  name: z.string().min(1).max(255),
  media_type: z.string().max(200).optional(),
  content: z.base64(),
})

export const inlineFile = ({ name, media_type, content }: z.output<typeof InlineFile>): Attachment => ({
  name,
  mediaType: media_type ?? '',
  async *content() {
    yield Buffer.from(content, 'base64')
  },
})

export const MAX_TEXT_LENGTH = 8000
/**
 * The maximum length of a message that is searched for its text. It includes surrounding content such as quotations and
 * links.
 */
export const MAX_READ = 8 * MAX_TEXT_LENGTH
const CUT = '…'

/** Makes a text storable: PostgreSQL accepts neither NUL nor half a surrogate pair. A truncated text ends with `…`. */
export const storable = (text: string, most = MAX_TEXT_LENGTH): string => {
  const whole = toStorableText(text).trim()
  return whole.length <= most ? whole : whole.slice(0, most - 1).toWellFormed() + CUT
}

export const wasCut = (text: string): boolean => text.length === MAX_TEXT_LENGTH && text.endsWith(CUT)

const BREAKS = ['\n\n', '\n', ' ']

/** Splits a text into parts of at most `most` characters, between paragraphs, lines or words if possible. */
export function splitText(text: string, most: number): string[] {
  const parts: string[] = []
  let rest = text.trim()
  while (rest.length > most) {
    const window = rest.slice(0, most + 1)
    const at =
      BREAKS.map((mark) => window.lastIndexOf(mark)).find((found) => found > most / 2) ?? wholeLetter(rest, most)
    parts.push(rest.slice(0, at).trimEnd())
    rest = rest.slice(at).trimStart()
  }
  if (rest !== '') parts.push(rest)
  return parts
}

/** Moves a cut so that it never splits a surrogate pair. */
const wholeLetter = (text: string, at: number): number => (/[\ud800-\udbff]/.test(text[at - 1]!) ? at - 1 : at)
