import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { bytesOfUuid, uuidOfBytes } from '#platform/ids'
import type { Vault } from '#platform/secrets'

// The address that an external system calls to answer a `wait.event` node. It is derived from the execution and the
// node, so it is known before the node waits. It is signed, so it cannot be forged. It is not stored.

const HASH_BYTES = 8
const MAC_BYTES = 16
const LENGTH = 16 + 16 + HASH_BYTES + MAC_BYTES

export type Called = { workspaceId: string; executionId: string; callbackHash: Buffer }

export const callbackHashOf = (nodePath: string): Buffer =>
  createHash('sha256').update(nodePath).digest().subarray(0, HASH_BYTES)

export function makeCallbackAddresses(options: { vault: Vault; baseUrl(): string }) {
  const key = options.vault.derive('callbacks')
  const macOf = (bytes: Buffer): Buffer => createHmac('sha256', key).update(bytes).digest().subarray(0, MAC_BYTES)
  return {
    urlOf({
      workspaceId,
      executionId,
      nodePath,
    }: {
      workspaceId: string
      executionId: string
      nodePath: string
    }): string {
      const named = Buffer.concat([bytesOfUuid(workspaceId), bytesOfUuid(executionId), callbackHashOf(nodePath)])
      const text = Buffer.concat([named, macOf(named)]).toString('base64url')
      return `${options.baseUrl()}/api/callbacks/${text}`
    },
    /** Returns undefined if this service did not create the address. */
    read(text: string): Called | undefined {
      const bytes = Buffer.from(text, 'base64url')
      if (bytes.length !== LENGTH || bytes.toString('base64url') !== text) return undefined
      const named = bytes.subarray(0, -MAC_BYTES)
      if (!timingSafeEqual(bytes.subarray(-MAC_BYTES), macOf(named))) return undefined
      return {
        workspaceId: uuidOfBytes(named.subarray(0, 16)),
        executionId: uuidOfBytes(named.subarray(16, 32)),
        callbackHash: named.subarray(32),
      }
    },
  }
}
export type CallbackAddresses = ReturnType<typeof makeCallbackAddresses>
