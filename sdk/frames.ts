import type { EnrichmentJob, Execution, Notification } from './types.generated.ts'

// The messages of live sockets. A newer service may send types that are not listed here: ignore them.

type Of<Type extends string, Data> = { seq: number; type: Type; at: string; data: Data }

/** Entries `from` to `to` no longer exist: read the resource itself to see its state. */
export type GapFrame = Of<'gap', { from: number; to: number }>

export type ExecutionEventType =
  | `execution.${'started' | 'waiting' | 'resumed' | 'ending' | 'succeeded' | 'failed' | 'cancelled' | 'timed_out'}`
  | `node.${'started' | 'progress' | 'succeeded' | 'failed' | 'retrying' | 'skipped'}`
  | `approval.${'opened' | 'edited' | 'voted' | 'resolved'}`
  | `clarification.${'asked' | 'answered'}`
  | `event.${'awaited' | 'received'}`

/** The data of a journal entry of a node, as far as it is common to all types. */
export type NodeEventData = {
  node_id: string
  attempt?: number
  output?: unknown
  error?: { code: string; message: string }
  /** True if the entry belongs to an item of a map. */
  in_map?: boolean
  [field: string]: unknown
}

export type ExecutionFrame =
  | Of<'snapshot', Execution>
  | Of<Extract<ExecutionEventType, `node.${string}`>, NodeEventData>
  | Of<Exclude<ExecutionEventType, `node.${string}`>, Record<string, unknown>>
  | GapFrame

export type JobCounts = NonNullable<EnrichmentJob['last_run']>['counts']
export type JobFrame =
  | Of<'snapshot', EnrichmentJob>
  | Of<'job.started', { run_id: string; total: number; full: boolean; sample: number | null }>
  | Of<
      'job.progress',
      { run_id: string; total: number; counts: JobCounts; rate: number; estimated_end_at: string | null }
    >
  | Of<'job.paused', { reason: string }>
  | Of<
      'job.finished',
      {
        run_id: string
        status: 'succeeded' | 'failed' | 'cancelled'
        total: number
        error: { code: string; message: string } | null
        counts?: JobCounts
        output_dataset_id?: string | null
        sample?: number | null
      }
    >
  | GapFrame

export type NotificationFrame =
  | Of<'snapshot', { unread: number; items: Notification[] }>
  /** Only the id if the notification was deleted in the meantime, or the user has left its workspace. */
  | Of<'notification.created' | 'notification.updated', Notification | { notification_id: string }>
  | Of<'notification.deleted', { notification_id: string }>
  | GapFrame

/** The conversations of the workspace have changed: reload the ones that you show. */
export type ConversationFrame = Of<'snapshot' | 'conversations.changed', Record<string, never>> | GapFrame
