import type { Prefix } from '../ids.ts'

// A feed is a numbered journal that people watch through sockets: their notifications, an execution, a job, conversations. An area adds one
// with `realtime.addFeed(kind, feed)`; realtime.ts does everything else: tickets, sockets, waking, resuming, withdrawing.
//
//   realtime.addFeed('execution', {
//     path: '/ws/executions/:execution_id', prefix: 'exe', hintChannel: 'journal',
//     authorise: …, snapshot: …, read: …,
//   })
//
// What a feed promises:
// - seq rises in commit order: an entry that becomes visible later has a higher number (a database sequence does not).
// - `read` answers many requests with one query. It is called once per wake for all sockets of the kind.
// - After the commit of an entry somebody hints at the resource: `tx.hint(hintChannel, resource)` in the transaction, which
//   sends NOTIFY once it has committed; or the feed's own `hints`. A lost hint delays a frame until the next look
//   (pollEvery, 10 s); one too many costs a query. Those that come together are answered together.
// - Code that withdraws access to a resource says `tx.hint('access', userId)`; without it the sockets are closed by the next
//   check (checkEvery, 2.5 s). Memberships, sessions and keys say it by themselves.
//
// A route hands out tickets with `issueTicket(ctx, { kind, resource, path })` after it has checked access.

/** The kinds of tickets; the table knows the same. */
export type FeedKind = 'notifications' | 'execution' | 'job' | 'conversations'

/** One message on the socket. */
export type Frame = { seq: number; type: string; at: Date; data: unknown }

/** Whose socket it is and what it shows. `resource` is a uuid. */
export type Viewer = { user_id: string; workspace_id: string | null; resource: string }

/** `withdrawn` closes with 4403, `gone` with 4404. */
export type Verdict = 'allowed' | 'withdrawn' | 'gone'

export type ReadRequest = { resource: string; after: number }

export type Feed = {
  /** With at most one parameter: the resource's id on the wire. Without one the ticket alone names the resource. */
  path: string
  prefix?: Prefix
  /** Where NOTIFY says that a resource has something new; or `hints`, for a feed whose journal tells this process itself. */
  hintChannel?: string
  /** Calls `wake` with the resource, or with an empty text for all of them; gives back how to stop. */
  hints?(wake: (resource: string) => void): () => void
  /**
   * For each viewer in turn whether they may see the resource; asked when a socket opens and then every checkEvery. That
   * they are in the workspace and that their credential holds has been checked.
   */
  authorise(viewers: readonly Viewer[]): Promise<Verdict[]>
  /** The state and the number of the last entry in it, from one snapshot of the database; undefined where it is gone. */
  snapshot(viewer: Viewer): Promise<{ seq: number; data: unknown } | undefined>
  /**
   * For each request in turn what follows `after`, in order and at most `most` frames; fewer mean that there are no more.
   * Entries that exist no longer are told with a frame `gap` (see `withGaps`).
   */
  read(requests: readonly ReadRequest[], most: number): Promise<Frame[][]>
}

/** What was lost: the entries `from` to `to`, both included. It takes the number of the last one. */
export const gap = (from: number, to: number, seq = to): Frame => ({
  seq,
  type: 'gap',
  at: new Date(),
  data: { from, to },
})

/**
 * Puts a `gap` wherever numbers are missing, for journals numbered without holes. `last` is the highest number ever given. A
 * position beyond it is of a numbering that no longer exists (a restored database): everything is told as a gap.
 */
export function withGaps(after: number, last: number, entries: readonly Frame[], most: number): Frame[] {
  if (last < after) return [gap(1, last, last)]
  const frames: Frame[] = []
  let seen = after
  for (const entry of entries) {
    if (entry.seq > seen + 1) frames.push(gap(seen + 1, entry.seq - 1))
    frames.push(entry)
    seen = entry.seq
  }
  if (entries.length < most && last > seen) frames.push(gap(seen + 1, last))
  return frames
}
