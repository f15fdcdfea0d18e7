// What can begin a run, as the list of runs is narrowed by it.

/** Leaves nothing out. A job starts a run for each record, so those are left out unless somebody asks for them. */
export const ALL = 'all'

export const triggers = [
  { value: '', label: 'All but jobs' },
  { value: ALL, label: 'Any trigger' },
  { value: 'user,system', label: 'People' },
  { value: 'schedule', label: 'Schedules' },
  { value: 'webhook', label: 'Webhooks' },
  { value: 'embed,channel', label: 'Visitors and channels' },
  { value: 'event', label: 'Events' },
  { value: 'workflow', label: 'Other workflows' },
  { value: 'job', label: 'Jobs' },
  { value: 'trial', label: 'Trials of drafts' },
]
