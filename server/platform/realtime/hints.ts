import type { Database } from '../db/pool.ts'
import type { Channel } from './channel.ts'
import type { FeedKind } from './feed.ts'

/**
 * Informs sockets about news, and about changed access of a person (of all persons, without an id). Starts to listen
 * with the first socket, so that a program without sockets needs no connection for this.
 */
export function makeHints(
  db: Database,
  channels: ReadonlyMap<FeedKind, Channel>,
  onAccessChanged: (userId: string) => void,
) {
  const unlisten: (() => Promise<void>)[] = []
  let listening: Promise<void> | undefined

  async function listen(): Promise<void> {
    unlisten.push(await db.listen('access', onAccessChanged))
    for (const channel of channels.values()) {
      const onHint = (resource: string): void => (resource === '' ? channel.wakeAll() : channel.wake(resource))
      const { hintChannel, hints } = channel.feed
      if (hintChannel !== undefined) unlisten.push(await db.listen(hintChannel, onHint))
      if (hints) {
        const stop = hints(onHint)
        unlisten.push(async () => stop())
      }
    }
  }

  return {
    ensureListening(): Promise<void> {
      listening ??= listen().catch((error: unknown) => {
        listening = undefined
        throw error
      })
      return listening
    },
    async stop(): Promise<void> {
      await listening?.catch(() => {})
      await Promise.all(unlisten.map((stop) => stop()))
    },
  }
}
