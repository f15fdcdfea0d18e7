import { createHmac, timingSafeEqual } from 'node:crypto'
import { bytesOfUuid, uuidOfBytes } from '#platform/ids'
import type { Vault } from '#platform/secrets'

// The address that a vendor calls for one registration of a trigger, and the secret with which the vendor signs. Both
// are derived from the trigger and the number of the registration, so nothing is stored and no address can be forged.

const MAC_BYTES = 16
const LENGTH = 16 + 16 + 8 + MAC_BYTES

export type Hook = { workspaceId: string; triggerId: string; generation: string }

function named({ workspaceId, triggerId, generation }: Hook): Buffer {
  const number = Buffer.alloc(8)
  number.writeBigUInt64BE(BigInt(generation))
  return Buffer.concat([bytesOfUuid(workspaceId), bytesOfUuid(triggerId), number])
}

export function makeHookAddresses(options: { vault: Vault; baseUrl(): string }) {
  const addressKey = options.vault.derive('trigger addresses')
  const secretKey = options.vault.derive('trigger secrets')
  const macOf = (bytes: Buffer): Buffer =>
    createHmac('sha256', addressKey).update(bytes).digest().subarray(0, MAC_BYTES)
  return {
    urlOf(hook: Hook): string {
      const bytes = named(hook)
      return `${options.baseUrl()}/api/triggers/in/${Buffer.concat([bytes, macOf(bytes)]).toString('base64url')}`
    },
    /** Returns the secret. It has only letters and digits, which every vendor accepts. */
    secretOf: (hook: Hook): string => createHmac('sha256', secretKey).update(named(hook)).digest('hex').slice(0, 48),
    /** Checks whether we created the address for this trigger. */
    isFor(url: string, triggerId: string): boolean {
      return this.read(url.split('/').at(-1) ?? '')?.triggerId === triggerId
    },
    /** Returns undefined if we did not create the address. */
    read(text: string): Hook | undefined {
      const bytes = Buffer.from(text, 'base64url')
      if (bytes.length !== LENGTH || bytes.toString('base64url') !== text) return undefined
      const name = bytes.subarray(0, -MAC_BYTES)
      if (!timingSafeEqual(bytes.subarray(-MAC_BYTES), macOf(name))) return undefined
      return {
        workspaceId: uuidOfBytes(name.subarray(0, 16)),
        triggerId: uuidOfBytes(name.subarray(16, 32)),
        generation: name.readBigUInt64BE(32).toString(),
      }
    },
  }
}
export type HookAddresses = ReturnType<typeof makeHookAddresses>
