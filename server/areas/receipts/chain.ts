import { createHash } from 'node:crypto'
import { canonicalText } from '#model/canonical'
import type { Json } from '#model/definition'
import type { ReceiptEvent } from './schema.ts'

// Defines what is hashed, and how. `verifyReceipt` of the SDK computes the same independently.

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

export const hashJson = (value: Json): string => sha256(canonicalText(value))

/** Each link includes the previous link, so that no event can be changed, moved or left out. */
export const linkAfter = (before: string, { seq, type, at, data_sha256 }: Omit<ReceiptEvent, 'link'>): string =>
  sha256(`${before}\n${canonicalText({ seq, type, at, data_sha256 })}`)

export const keyIdOf = (publicKey: string): string => sha256(publicKey).slice(0, 16)
