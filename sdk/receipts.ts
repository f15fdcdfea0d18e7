import { createHash, createPublicKey, verify } from 'node:crypto'

// Verifies a receipt of an execution with Node.js alone, without the service.

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type Fields = { [key: string]: Json }

type ReceiptEvent = { seq: number; type: string; at: string; data_sha256: string; link: string }

type ReceiptStatement = {
  format: 'receipt/1'
  issued_at: string
  issuer: string
  execution_sha256: string
  content_sha256: string
  /** One hash for each gate, in order. */
  gates_sha256: string[]
  events: number
  /** The last link of the journal's chain. */
  journal: string
  key_id: string
}

type Receipt = {
  heddle: 'receipt/1'
  execution: Fields
  content: Fields
  gates: Fields[]
  events: ReceiptEvent[]
  statement: ReceiptStatement
  public_key: string
  signature: string
}

export type ReceiptProblem = { path: string; message: string }

/** Serializes JSON according to RFC 8785: equal values give the same text. */
function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const fields = Object.keys(value).sort()
  return `{${fields.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name]!)}`).join(',')}}`
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hashJson = (value: Json): string => sha256(canonicalJson(value))

/** Each link includes the previous link, so that no event can be changed, moved or removed. */
const linkAfter = (before: string, { seq, type, at, data_sha256 }: Omit<ReceiptEvent, 'link'>): string =>
  sha256(`${before}\n${canonicalJson({ seq, type, at, data_sha256 })}`)

const keyIdOf = (publicKey: string): string => sha256(publicKey).slice(0, 16)

const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')
const publicKeyOf = (text: string) =>
  createPublicKey({
    key: Buffer.concat([SPKI_PREFIX, Buffer.from(text, 'base64url')]),
    format: 'der',
    type: 'spki',
  })

function isSigned({ statement, public_key, signature }: Receipt): boolean {
  try {
    const text = Buffer.from(canonicalJson(statement))
    return verify(null, text, publicKeyOf(public_key), Buffer.from(signature, 'base64url'))
  } catch {
    return false
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function hasForm(value: unknown): value is Receipt {
  return (
    isObject(value) &&
    value.heddle === 'receipt/1' &&
    isObject(value.execution) &&
    isObject(value.content) &&
    Array.isArray(value.gates) &&
    Array.isArray(value.events) &&
    value.events.every(isObject) &&
    isObject(value.statement) &&
    Array.isArray(value.statement.gates_sha256) &&
    typeof value.public_key === 'string' &&
    typeof value.signature === 'string'
  )
}

/** Returns the first event that does not match the chain. The events after it cannot be verified. */
function brokenLink({ events, statement }: Receipt): ReceiptProblem | undefined {
  let link = ''
  for (const [at, event] of events.entries()) {
    link = linkAfter(link, event)
    if (event.link !== link)
      return { path: `/events/${at}`, message: `event ${event.seq} (${event.type}) was changed, moved or removed` }
  }
  if (events.length !== statement.events || link !== statement.journal)
    return { path: '/events', message: 'events were added or removed at the end' }
  return undefined
}

/**
 * Returns the problems of a receipt. An empty list means that the receipt is unchanged since it was issued. `publicKey`
 * is the key of the installation that you trust (`GET /api/receipt-key`). Without it, the receipt is only verified with
 * the key that it contains.
 */
export function verifyReceipt(receipt: unknown, publicKey?: string): ReceiptProblem[] {
  if (!hasForm(receipt)) return [{ path: '', message: 'is not a receipt of the format receipt/1' }]
  const { statement } = receipt
  if (publicKey !== undefined && receipt.public_key !== publicKey)
    return [{ path: '/public_key', message: 'is not the key that you trust' }]
  if (statement.key_id !== keyIdOf(receipt.public_key) || !isSigned(receipt))
    return [
      {
        path: '/statement',
        message: 'does not match the signature: the statement, the key or the signature was changed',
      },
    ]
  const problems: ReceiptProblem[] = []
  const hold = (path: string, value: Fields, expected: string | undefined): void => {
    if (hashJson(value) !== expected) problems.push({ path, message: 'was changed' })
  }
  hold('/execution', receipt.execution, statement.execution_sha256)
  hold('/content', receipt.content, statement.content_sha256)
  if (receipt.gates.length !== statement.gates_sha256.length)
    problems.push({ path: '/gates', message: 'gates were added or removed' })
  else for (const [at, gate] of receipt.gates.entries()) hold(`/gates/${at}`, gate, statement.gates_sha256[at])
  const broken = brokenLink(receipt)
  return broken ? [...problems, broken] : problems
}
