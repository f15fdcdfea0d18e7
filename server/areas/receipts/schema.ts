import { z } from 'zod'
import { jsonObject } from '#platform/http/schema'

const sha256 = (what: string) => z.string().describe(`SHA-256 of ${what}, in hexadecimal`)

const ReceiptEvent = z.object({
  seq: z.number().int(),
  type: z.string(),
  at: z.string(),
  data_sha256: sha256("the event's data as canonical JSON"),
  link: sha256('the link before, a line feed, and this event without its link as canonical JSON'),
})

export type ReceiptEvent = z.input<typeof ReceiptEvent>

const ReceiptStatement = z.object({
  format: z.literal('receipt/1'),
  issued_at: z.string(),
  issuer: z.string().describe('The address of the installation'),
  execution_sha256: sha256('`execution` as canonical JSON'),
  content_sha256: sha256('`content` as canonical JSON'),
  gates_sha256: z.array(z.string()).describe('SHA-256 of each entry of `gates` as canonical JSON'),
  events: z.number().int().describe('How many events the journal has'),
  journal: sha256('the last link of the journal'),
  key_id: z.string(),
})

export type ReceiptStatement = z.input<typeof ReceiptStatement>

export const Receipt = z
  .object({
    heddle: z.literal('receipt/1').describe('The format of the document'),
    execution: jsonObject().describe('What ran, for whom, when, and how it ended'),
    content: jsonObject().describe('Hashes of the definition, the input and the results'),
    gates: z.array(jsonObject()).describe('Each approval gate, with what its voters saw and how they voted'),
    events: z.array(ReceiptEvent).describe('The journal as a chain of hashes, oldest first'),
    statement: ReceiptStatement.describe('What is signed: the hashes of all the rest'),
    public_key: z.string().describe('The key that signed it: 32 bytes of an Ed25519 key, in base64url'),
    signature: z.string().describe('Ed25519 signature of `statement` as canonical JSON, in base64url'),
  })
  .meta({ id: 'Receipt' })
export type Receipt = z.input<typeof Receipt>

export const ReceiptKey = z
  .object({
    key_id: z.string(),
    algorithm: z.literal('ed25519'),
    public_key: z.string().describe('32 bytes of an Ed25519 key, in base64url'),
  })
  .meta({ id: 'ReceiptKey' })
