import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Clock, HOUR, SECOND, systemClock } from '#platform/clock'
import { fromWire, toWire } from '#platform/ids'

// A signed address is the complete permission to read one file for a week. It must match the generated address byte for
// byte, so no other spelling works.

const READABLE_FOR = 7 * 24 * HOUR

export type DownloadLinks = {
  sign(file: { workspaceId: string; fileId: string }): { path: string; expires_at: Date }
  /** Returns the file that this path may read. Undefined unless the address was signed and has not expired. */
  verify(path: string): { workspaceId: string; fileId: string } | undefined
}

export function makeDownloadLinks({ key, clock = systemClock }: { key: Buffer; clock?: Clock }): DownloadLinks {
  const pathOf = (workspaceId: string, fileId: string, expires: number): string => {
    const subject = `${toWire('file', fileId)}/${toWire('ws', workspaceId)}.${expires}`
    const signature = createHmac('sha256', key).update(`file\n${subject}`).digest('base64url')
    return `/files/${subject}.${signature}`
  }
  return {
    sign({ workspaceId, fileId }) {
      const expires = Math.floor((clock.now().getTime() + READABLE_FOR) / SECOND)
      return { path: pathOf(workspaceId, fileId, expires), expires_at: new Date(expires * SECOND) }
    },
    verify(path) {
      const [, file, workspace, expires] = /^\/files\/(file_\w{26})\/(ws_\w{26})\.(\d{10})\.[\w-]{43}$/.exec(path) ?? []
      const fileId = fromWire('file', file ?? '')
      const workspaceId = fromWire('ws', workspace ?? '')
      if (fileId === undefined || workspaceId === undefined) return undefined
      if (Number(expires) * SECOND <= clock.now().getTime()) return undefined
      const expected = Buffer.from(pathOf(workspaceId, fileId, Number(expires)))
      const given = Buffer.from(path)
      return given.length === expected.length && timingSafeEqual(given, expected) ? { workspaceId, fileId } : undefined
    },
  }
}
