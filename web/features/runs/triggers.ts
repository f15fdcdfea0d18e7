// What can begin a run, as the list of runs is narrowed by it.

/** A job begins a run for each record: where people look for theirs, those would crowd out all others. */
export const NOT_JOBS = 'user,system,webhook,schedule,embed,channel,workflow'

export const triggers = [
  { value: '', label: 'Any trigger' },
  { value: NOT_JOBS, label: 'Without jobs' },
  { value: 'user,system', label: 'People' },
  { value: 'schedule', label: 'Schedules' },
  { value: 'webhook', label: 'Webhooks' },
  { value: 'embed,channel', label: 'Visitors and channels' },
  { value: 'workflow', label: 'Other workflows' },
  { value: 'job', label: 'Jobs' },
]
