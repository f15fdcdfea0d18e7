import type { Prefix } from '../ids.ts'

// A feed is a numbered journal that people watch through sockets: their notifications, an execution, a job,
// conversations. An area adds a feed with `realtime.addFeed(kind, feed)`; realtime.ts does everything else: tickets,
// sockets, waking, resuming, withdrawing.
//
//   realtime.addFeed('execution', {
//     path: '/ws/executions/:execution_id', prefix: 'exe', hintChannel: 'journal',
//     authorise: …, snapshot: …, read: …,
//   })
//
// Requirements for a feed:
// - seq rises in commit order: an entry that becomes visible later has a higher number (a database sequence does not).
// - `read` answers many requests with one query. It is called once per wake for all sockets of the kind.
// - After the commit of an entry, a hint names the resource: `tx.hint(hintChannel, resource)` in the transaction, which
//   sends NOTIFY after the commit, or the feed's own `hints`. A lost hint delays a frame until the next poll
//   (pollEvery, 10 s). A needless hint costs a query. Simultaneous hints are handled together.
// - Code that withdraws access to a resource calls `tx.hint('access', userId)`. Without it, the next check closes the
//   sockets (checkEvery, 2.5 s). Memberships, sessions and keys send this hint themselves.
//
// A route issues tickets with `issueTicket(ctx, { kind, resource, path })` after it has checked access.

/** The kinds of tickets. The table has the same kinds. */
export type FeedKind = 'notifications' | 'execution' | 'job' | 'conversations'

/** One message on the socket. */
export type Frame = { seq: number; type: string; at: Date; data: unknown }

/** The person who opened a socket, and the resource that it shows. `resource` is a uuid. */
export type Viewer = { user_id: string; workspace_id: string | null; resource: string }

/** `withdrawn` closes with 4403, `gone` with 4404. */
export type Verdict = 'allowed' | 'withdrawn' | 'gone'

export type ReadRequest = { resource: string; after: number }

export type Feed = {
  /**
   * Has at most one parameter: the resource's id on the wire. Without a parameter, only the ticket names the resource.
   */
  path: string
  prefix?: Prefix
  /**
   * The NOTIFY channel that announces news of a resource. A feed whose journal informs this process directly uses
   * `hints`.
   */
  hintChannel?: string
  /** Calls `wake` with the resource, or with an empty text for all resources. Returns a function that stops this. */
  hints?(wake: (resource: string) => void): () => void
  /**
   * Returns for each viewer whether they may see the resource. Called when a socket opens and then every checkEvery.
   * Membership in the workspace and the credential have already been checked.
   */
  authorise(viewers: readonly Viewer[]): Promise<Verdict[]>
  /**
   * Returns the state and the number of its last entry, from one database snapshot. Undefined if the resource is gone.
   */
  snapshot(viewer: Viewer): Promise<{ seq: number; data: unknown } | undefined>
  /**
   * Returns for each request the frames after `after`, in order, at most `most` of them; fewer mean that there are no
   * more. Entries that no longer exist are reported with a `gap` frame (see `withGaps`).
   */
  read(requests: readonly ReadRequest[], most: number): Promise<Frame[][]>
}

/** Returns a frame that reports lost entries, `from` to `to` inclusive. Its number is that of the last entry. */
export const gap = (from: number, to: number, seq = to): Frame => ({
  seq,
  type: 'gap',
  at: new Date(),
  data: { from, to },
})

/**
 * Inserts a `gap` where numbers are missing, for journals numbered without holes. `last` is the highest number ever
 * used. A position beyond it belongs to a numbering that no longer exists (after a database was restored): everything
 * is reported as a gap.
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
