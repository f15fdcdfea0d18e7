// The triggers of executions, as filters of the list.

/** Includes everything. By default the executions of jobs are left out, because a job starts one for each record. */
export const ALL = 'all'

export const triggers = [
  { value: '', label: 'All except jobs' },
  { value: ALL, label: 'Any trigger' },
  { value: 'user,system', label: 'People' },
  { value: 'schedule', label: 'Schedules' },
  { value: 'webhook', label: 'Webhooks' },
  { value: 'embed,channel', label: 'Visitors and channels' },
  { value: 'event', label: 'Events' },
  { value: 'workflow', label: 'Other workflows' },
  { value: 'job', label: 'Jobs' },
  { value: 'trial', label: 'Test runs of drafts' },
]
