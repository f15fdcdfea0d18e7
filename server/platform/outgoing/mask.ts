// Masks secrets by their value in everything that comes from outside: plain, and in the encodings in which services
// echo a request. A value that a service splits or encrypts cannot be found.

export const MASK = '•••'

/** The minimum length of a masked value. Shorter values would also match unrelated text. */
const MIN_MASKED = 4
const MIN_MASKED_ENCODED = 6

export type Mask = {
  text(text: string): string
  bytes(bytes: Buffer): Buffer
  /** Masks a stream. Holds back only bytes that may be the start of a secret, so that open streams keep flowing. */
  chunks(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer>
}

/**
 * Returns the base64 characters that depend only on `value`, for `value` at a byte offset of 0, 1 or 2 within a longer
 * text.
 */
const base64Cores = (value: string): string[] => {
  const bytes = Buffer.from(value)
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replaceAll('=', '')
    const from = Math.ceil((offset * 8) / 6)
    const to = Math.floor(((offset + bytes.length) * 8) / 6)
    return encoded.slice(from, to)
  })
}

const lowerHex = (text: string): string => text.replace(/%[0-9A-F]{2}/g, (escaped) => escaped.toLowerCase())
const everyByte = (value: string): string =>
  [...Buffer.from(value)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
const strict = (text: string): string =>
  text.replace(/[!'()*~]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)

function urlForms(value: string): string[] {
  const component = encodeURIComponent(value.toWellFormed())
  const forms = [
    component,
    strict(component),
    component.replaceAll('%20', '+'),
    strict(component).replaceAll('%20', '+'),
  ]
  return [...forms, ...forms.map(lowerHex), everyByte(value), everyByte(value).toUpperCase()]
}

function jsonForms(value: string): string[] {
  const plain = JSON.stringify(value).slice(1, -1)
  const ascii = plain.replace(/[^\x20-\x7e]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const html = plain.replace(/[<>&'+]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const twice = JSON.stringify(plain).slice(1, -1)
  return [plain, ascii, plain.replaceAll('/', '\\/'), html, html.toUpperCase().replaceAll('\\U', '\\u'), twice]
}

const htmlForm = (value: string): string =>
  value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')

/** Returns every form of the secrets that is searched for, the longest first. */
function formsOf(secrets: readonly string[]): string[] {
  const forms = new Set<string>()
  for (const secret of secrets) {
    if (secret.length < MIN_MASKED) continue
    for (const form of [secret, secret.trim(), ...urlForms(secret), ...jsonForms(secret), htmlForm(secret)])
      if (form.length >= MIN_MASKED) forms.add(form)
    if (secret.length < MIN_MASKED_ENCODED) continue
    const hex = Buffer.from(secret).toString('hex')
    forms.add(hex).add(hex.toUpperCase())
    for (const core of base64Cores(secret)) {
      forms.add(core).add(core.replaceAll('+', '-').replaceAll('/', '_'))
      for (const form of urlForms(core)) forms.add(form)
    }
  }
  return [...forms].sort((a, b) => b.length - a.length)
}

export function makeMask(secrets: readonly string[]): Mask {
  const forms = formsOf(secrets)
  const needles = forms.map((form) => Buffer.from(form))
  const byFirst = Map.groupBy(needles, (needle) => needle[0]!)
  const longest = Math.max(0, ...needles.map(({ length }) => length))
  const replacement = Buffer.from(MASK)

  const text = (given: string): string => {
    let masked = given
    for (const form of forms) if (masked.includes(form)) masked = masked.replaceAll(form, MASK)
    return masked
  }

  const bytes = (given: Buffer): Buffer => {
    let masked = given
    for (const needle of needles) masked = replaceBytes(masked, needle, replacement)
    return masked
  }

  /** Returns how many of the last bytes may be the start of a secret that continues in the next chunk. */
  const held = (given: Buffer): number => {
    for (let from = Math.max(0, given.length - longest + 1); from < given.length; from += 1) {
      const size = given.length - from
      const begins = byFirst
        .get(given[from]!)
        ?.some((needle) => needle.length > size && needle.compare(given, from, given.length, 0, size) === 0)
      if (begins) return size
    }
    return 0
  }

  async function* chunks(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let kept: Buffer = Buffer.alloc(0)
    for await (const chunk of source) {
      const masked = bytes(kept.length === 0 ? chunk : Buffer.concat([kept, chunk]))
      const keep = held(masked)
      kept = masked.subarray(masked.length - keep)
      if (masked.length > keep) yield masked.subarray(0, masked.length - keep)
    }
    if (kept.length > 0) yield kept
  }

  return { text, bytes, chunks }
}

export const bothMasks = (one: Mask, other: Mask): Mask => ({
  text: (text) => other.text(one.text(text)),
  bytes: (bytes) => other.bytes(one.bytes(bytes)),
  chunks: (source) => other.chunks(one.chunks(source)),
})

function replaceBytes(given: Buffer, needle: Buffer, replacement: Buffer): Buffer {
  let at = given.indexOf(needle)
  if (at === -1) return given
  const parts: Buffer[] = []
  let from = 0
  for (; at !== -1; at = given.indexOf(needle, from)) {
    parts.push(given.subarray(from, at), replacement)
    from = at + needle.length
  }
  parts.push(given.subarray(from))
  return Buffer.concat(parts)
}
