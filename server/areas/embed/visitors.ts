import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import { DAY } from '#platform/clock'
import { bytesOfUuid, uuidOfBytes } from '#platform/ids'
import type { Vault } from '#platform/secrets'

// A visitor is the holder of this token. It is valid for 24 hours, for one template or one workflow. The token is not
// stored. A thread or an execution has the visitor's id, and the id alone grants no access.

const LASTS = DAY
const PREFIX = 'vst_'
const PAYLOAD = 40

export function makeVisitors({ vault, now = Date.now }: { vault: Vault; now?: () => number }) {
  const key = createSecretKey(vault.derive('visitor-tokens'))
  const sign = (payload: Buffer): Buffer => createHmac('sha256', key).update(payload).digest()

  return {
    /** `ownerId`: the id of the template or workflow. */
    mint(ownerId: string, visitorId: string): string {
      const expires = Buffer.alloc(8)
      expires.writeBigUInt64BE(BigInt(now() + LASTS))
      const payload = Buffer.concat([bytesOfUuid(visitorId), bytesOfUuid(ownerId), expires])
      return PREFIX + Buffer.concat([payload, sign(payload)]).toString('base64url')
    },

    /** Returns the visitor's id, or null if the token is forged, expired or belongs to another widget. */
    read(ownerId: string, token: string | undefined): string | null {
      if (token === undefined || !token.startsWith(PREFIX) || token.length > 200) return null
      const text = token.slice(PREFIX.length)
      const bytes = Buffer.from(text, 'base64url')
      // Only one encoding of the bytes is valid.
      if (bytes.length !== PAYLOAD + 32 || bytes.toString('base64url') !== text) return null
      const payload = bytes.subarray(0, PAYLOAD)
      if (!timingSafeEqual(sign(payload), bytes.subarray(PAYLOAD))) return null
      if (uuidOfBytes(payload.subarray(16, 32)) !== ownerId || Number(payload.readBigUInt64BE(32)) <= now()) return null
      return uuidOfBytes(payload.subarray(0, 16))
    },
  }
}

export type Visitors = ReturnType<typeof makeVisitors>
