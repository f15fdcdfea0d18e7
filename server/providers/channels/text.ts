import { z } from 'zod'
import { type Attachment, InboundMalformed } from './index.ts'

/** What a vendor sent, as far as it is what we know; undefined where it is something else. */
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

/** A language tag of the person, such as de-CH; what is none is as if it were absent. */
export const Locale = z
  .string()
  .regex(/^[A-Za-z0-9-]{2,35}$/)
  .optional()
  .catch(undefined)

export const spoken = (locale: string | undefined): { locale?: string } => (locale === undefined ? {} : { locale })

/** A file that comes along in JSON. */
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
/** So much of a message is looked through for its text: what stands around it, as quotes and links, counts too. */
export const MAX_READ = 8 * MAX_TEXT_LENGTH
const CUT = '…'

/** PostgreSQL stores neither NUL nor half a surrogate pair. What is too long ends with a sign that it was cut. */
export const storable = (text: string, most = MAX_TEXT_LENGTH): string => {
  const whole = text.toWellFormed().replaceAll('\u0000', '').trim()
  return whole.length <= most ? whole : whole.slice(0, most - 1).toWellFormed() + CUT
}

export const wasCut = (text: string): boolean => text.length === MAX_TEXT_LENGTH && text.endsWith(CUT)

const BREAKS = ['\n\n', '\n', ' ']

/** Parts of at most `most` characters, broken between paragraphs, lines or words where that is possible. */
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

/** Never through the middle of a surrogate pair. */
const wholeLetter = (text: string, at: number): number => (/[\ud800-\udbff]/.test(text[at - 1]!) ? at - 1 : at)
