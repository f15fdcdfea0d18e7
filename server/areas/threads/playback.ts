import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Clock, MINUTE, SECOND, systemClock } from '#platform/clock'
import { fromWire, toWire } from '#platform/ids'

// A signed address is the complete permission to play one clip for five minutes, with GET. The address is compared byte
// for byte, so that no other spelling of it works.

const PLAYABLE_FOR = 5 * MINUTE

export type Playback = {
  sign(clip: { workspaceId: string; audioId: string }): { path: string; expires_at: Date }
  /** Returns the clip that this request may play. Undefined unless the address is signed and has not expired. */
  verify(request: { method: string; url: string }): { workspaceId: string; audioId: string } | undefined
}

export function makePlayback({ key, clock = systemClock }: { key: Buffer; clock?: Clock }): Playback {
  const pathOf = (workspaceId: string, audioId: string, expires: number): string => {
    const subject = `${toWire('aud', audioId)}/${toWire('ws', workspaceId)}.${expires}`
    const signature = createHmac('sha256', key).update(`GET\n${subject}`).digest('base64url')
    return `/audio/${subject}.${signature}`
  }
  return {
    sign({ workspaceId, audioId }) {
      const expires = Math.floor((clock.now().getTime() + PLAYABLE_FOR) / SECOND)
      return { path: pathOf(workspaceId, audioId, expires), expires_at: new Date(expires * SECOND) }
    },
    verify({ method, url }) {
      const [, audio, workspace, expires] = /^\/audio\/(aud_\w{26})\/(ws_\w{26})\.(\d{10})\.[\w-]{43}$/.exec(url) ?? []
      const audioId = fromWire('aud', audio ?? '')
      const workspaceId = fromWire('ws', workspace ?? '')
      if (method !== 'GET' || audioId === undefined || workspaceId === undefined) return undefined
      if (Number(expires) * SECOND <= clock.now().getTime()) return undefined
      const expected = Buffer.from(pathOf(workspaceId, audioId, Number(expires)))
      const given = Buffer.from(url)
      return given.length === expected.length && timingSafeEqual(given, expected) ? { workspaceId, audioId } : undefined
    },
  }
}
