/** What started an execution. */
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
  /**
   * A draft that a user tries, and the executions that it starts. A trial is not in lists, statistics, billing or
   * event destinations.
   */
  | 'trial'
