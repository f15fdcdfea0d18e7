/** What led to an execution. */
export type TriggerKind =
  | 'user'
  | 'webhook'
  | 'embed'
  | 'schedule'
  | 'job'
  | 'channel'
  | 'workflow'
  | 'event'
  | 'system'
  /** A draft that somebody tries, and what it starts: it leaves no trace in lists, statistics, billing or event destinations. */
  | 'trial'
