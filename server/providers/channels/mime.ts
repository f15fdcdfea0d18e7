import { decodeWords } from 'postal-mime'
import { type Attachment, MAX_ATTACHMENTS } from './index.ts'

// Reads the attachments of a mail. The parts are found by byte searches, and a part is decoded only while it is read,
// piece by piece: a parser that examined every line blocked the event loop for 10 µs per line, and a mail of 25 MiB has
// 350,000 lines.

const MAX_DEPTH = 5
const MAX_PARTS = 100
const MAX_HEADER_BYTES = 64 * 1024
const PIECE = 256 * 1024

type Headers = Map<string, string>
type Part = { headers: Headers; body: Buffer }

function splitHeaders(bytes: Buffer): Part {
  const head = bytes.subarray(0, MAX_HEADER_BYTES)
  const [crlf, lf] = [head.indexOf('\r\n\r\n'), head.indexOf('\n\n')]
  const isCrlf = crlf !== -1 && (lf === -1 || crlf < lf)
  const end = isCrlf ? crlf : lf
  if (end === -1) return { headers: new Map(), body: Buffer.alloc(0) }
  const lines = head
    .subarray(0, end)
    .toString('utf8')
    .replaceAll(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)
  const headers: Headers = new Map()
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).trim().toLowerCase()
    if (colon > 0 && !headers.has(name)) headers.set(name, line.slice(colon + 1).trim())
  }
  return { headers, body: bytes.subarray(end + (isCrlf ? 4 : 2)) }
}

/** Returns a header parameter, written as `name="a; b"` or `name*=UTF-8''a%20b`. */
function parameterOf(header: string, name: string): string | undefined {
  const extended = new RegExp(`;\\s*${name}\\*=([\\w-]*)'[^']*'([^;\\s]+)`, 'i').exec(header)
  if (extended && /^utf-8$/i.test(extended[1]!)) {
    try {
      return decodeURIComponent(extended[2]!)
    } catch {
      // The plain parameter is used instead, if it exists.
    }
  }
  const plain = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]+))`, 'i').exec(header)
  const value = plain?.[1]?.replaceAll(/\\(.)/g, '$1') ?? plain?.[2]
  return value === undefined ? undefined : decodeWords(value)
}

function partsOf(body: Buffer, boundary: string): Buffer[] {
  const mark = `--${boundary}`
  const parts: Buffer[] = []
  let from = body.subarray(0, mark.length).equals(Buffer.from(mark)) ? 0 : body.indexOf(`\n${mark}`)
  while (from !== -1 && parts.length < MAX_PARTS) {
    const begin = body.indexOf(10, from + 1)
    const at = body.indexOf(mark, from)
    if (begin === -1 || body.subarray(at + mark.length, at + mark.length + 2).toString() === '--') break
    const next = body.indexOf(`\n${mark}`, begin)
    const end = next === -1 ? body.length : body[next - 1] === 13 ? next - 1 : next
    parts.push(body.subarray(begin + 1, Math.max(begin + 1, end)))
    from = next
  }
  return parts
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function* decoded(body: Buffer, encoding: string): AsyncGenerator<Buffer> {
  let rest = ''
  for (let at = 0; at < body.length; at += PIECE) {
    const piece = body.subarray(at, at + PIECE)
    if (encoding === 'base64') {
      const text = rest + piece.toString('latin1').replaceAll(/[^A-Za-z0-9+/]/g, '')
      const whole = text.length - (text.length % 4)
      rest = text.slice(whole)
      yield Buffer.from(text.slice(0, whole), 'base64')
    } else if (encoding === 'quoted-printable') {
      const text = rest + piece.toString('latin1')
      // An escape sequence may continue in the next piece.
      const cut = at + PIECE < body.length ? Math.max(text.lastIndexOf('\n') + 1, text.length - PIECE) : text.length
      rest = text.slice(cut)
      yield unquoted(text.slice(0, cut))
    } else yield piece
    await turn()
  }
  if (rest !== '') yield encoding === 'base64' ? Buffer.from(rest, 'base64') : unquoted(rest)
}

const unquoted = (text: string): Buffer =>
  Buffer.from(
    text
      .replaceAll(/=\r?\n/g, '')
      .replaceAll(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )

function* leavesOf(bytes: Buffer, depth = 0): Generator<Part> {
  const part = splitHeaders(bytes)
  const type = part.headers.get('content-type') ?? 'text/plain'
  const boundary = /^multipart\//i.test(type) ? parameterOf(type, 'boundary') : undefined
  if (boundary === undefined) yield part
  else if (depth < MAX_DEPTH) for (const inner of partsOf(part.body, boundary)) yield* leavesOf(inner, depth + 1)
}

/**
 * Returns the parts that the sender marked as attachments. Inline pictures, such as the logo of a signature, are left
 * out.
 */
export function attachmentsIn(mail: Buffer): Attachment[] {
  const found: Attachment[] = []
  let looked = 0
  for (const { headers, body } of leavesOf(mail)) {
    looked += 1
    if (looked > MAX_PARTS || found.length >= MAX_ATTACHMENTS) break
    const disposition = headers.get('content-disposition') ?? ''
    const type = headers.get('content-type') ?? ''
    const name = parameterOf(disposition, 'filename') ?? parameterOf(type, 'name')
    const isAttached = /^attachment\b/i.test(disposition) || (name !== undefined && !/^inline\b/i.test(disposition))
    if (!isAttached) continue
    const encoding = (headers.get('content-transfer-encoding') ?? '').toLowerCase()
    found.push({
      name: name ?? 'file',
      mediaType: type.split(';')[0]?.trim() ?? '',
      content: () => decoded(body, encoding),
    })
  }
  return found
}
