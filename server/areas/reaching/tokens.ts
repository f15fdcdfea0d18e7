import { createHmac, timingSafeEqual } from 'node:crypto'
import { DAY, SECOND } from '#platform/clock'
import { bytesOfUuid, uuidOfBytes } from '#platform/ids'
import type { Vault } from '#platform/secrets'
import { BUTTON_PREFIX } from '#providers/channels/index'

// Links of mails. Each link names one mail to one person and is signed. The row of the mail states what the link may
// still do, so no secret is stored.

const MAC_BYTES = 16
const LINK_BYTES = 16 + 16 + MAC_BYTES
const TIME_BYTES = 6
/** Short enough for vendors that limit button values to 64 characters. */
const BUTTON_MAC_BYTES = 16
const BUTTON_BYTES = 16 + 1 + BUTTON_MAC_BYTES
const BROWSER_BYTES = 16 + TIME_BYTES + MAC_BYTES

export const BROWSER_COOKIE = 'heddle_reached'
export const BROWSER_LIFETIME_S = (30 * DAY) / SECOND

export type Named = { workspaceId: string; messageId: string }

export function makeInteractionTokens({ vault }: { vault: Vault }) {
  const key = vault.derive('interactions')
  const macOf = (purpose: string, ...parts: (Buffer | string)[]): Buffer => {
    const mac = createHmac('sha256', key).update(`${purpose}\n`)
    for (const part of parts) mac.update(part)
    return mac.digest()
  }
  const signed = (purpose: string, bytes: Buffer): string =>
    Buffer.concat([bytes, macOf(purpose, bytes).subarray(0, MAC_BYTES)]).toString('base64url')
  const open = (purpose: string, text: string, length: number): Buffer | undefined => {
    const bytes = Buffer.from(text, 'base64url')
    if (bytes.length !== length || bytes.toString('base64url') !== text) return undefined
    const content = bytes.subarray(0, -MAC_BYTES)
    const mac = macOf(purpose, content).subarray(0, MAC_BYTES)
    return timingSafeEqual(bytes.subarray(-MAC_BYTES), mac) ? content : undefined
  }

  return {
    linkOf: ({ workspaceId, messageId }: Named): string =>
      signed('link', Buffer.concat([bytesOfUuid(workspaceId), bytesOfUuid(messageId)])),

    readLink(text: string): Named | undefined {
      const bytes = open('link', text, LINK_BYTES)
      return bytes && { workspaceId: uuidOfBytes(bytes.subarray(0, 16)), messageId: uuidOfBytes(bytes.subarray(16)) }
    },

    /** Returns the value of one button of one message. It is valid only in the workspace of its channel. */
    buttonOf({ workspaceId, messageId }: Named, choice: number): string {
      const content = Buffer.concat([bytesOfUuid(messageId), Buffer.from([choice])])
      const mac = macOf('button', bytesOfUuid(workspaceId), content).subarray(0, BUTTON_MAC_BYTES)
      return BUTTON_PREFIX + Buffer.concat([content, mac]).toString('base64url')
    },

    readButton(workspaceId: string, value: string): { messageId: string; choice: number } | undefined {
      const text = value.slice(BUTTON_PREFIX.length)
      const bytes = Buffer.from(text, 'base64url')
      if (!value.startsWith(BUTTON_PREFIX) || bytes.length !== BUTTON_BYTES || bytes.toString('base64url') !== text)
        return undefined
      const content = bytes.subarray(0, -BUTTON_MAC_BYTES)
      const mac = macOf('button', bytesOfUuid(workspaceId), content).subarray(0, BUTTON_MAC_BYTES)
      if (!timingSafeEqual(bytes.subarray(-BUTTON_MAC_BYTES), mac)) return undefined
      return { messageId: uuidOfBytes(content.subarray(0, 16)), choice: content[16]! }
    },

    /** Returns the proof that a code sent to the person was entered in this browser. */
    browserOf(userId: string, now: number): string {
      const time = Buffer.alloc(TIME_BYTES)
      time.writeUIntBE(Math.floor(now / SECOND) + BROWSER_LIFETIME_S, 0, TIME_BYTES)
      return signed('browser', Buffer.concat([bytesOfUuid(userId), time]))
    },

    isBrowserOf(text: string | undefined, userId: string, now: number): boolean {
      const bytes = text === undefined ? undefined : open('browser', text, BROWSER_BYTES)
      return (
        bytes !== undefined &&
        uuidOfBytes(bytes.subarray(0, 16)) === userId &&
        bytes.readUIntBE(16, TIME_BYTES) > Math.floor(now / SECOND)
      )
    },

    codeHash: (messageId: string, code: string): Buffer => macOf('code', messageId, '\n', code),
  }
}
export type InteractionTokens = ReturnType<typeof makeInteractionTokens>
