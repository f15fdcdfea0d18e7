/**
 * Every type of event that is sent to clients, with its description. To add a type: add a line here, an example in
 * docs/events.md, and a call of `emitEvent` where the event happens. `event_visible` in the database decides who may
 * see an event; only owners see types that it does not know.
 */
export const eventTypes = {
  'execution.started': 'An execution has begun.',
  'execution.waiting': 'An execution waits for people, time or another execution.',
  'execution.resumed': 'An execution that waited goes on.',
  'execution.succeeded': 'An execution has ended well.',
  'execution.failed': 'An execution has failed.',
  'execution.cancelled': 'An execution was cancelled.',
  'execution.timed_out': 'An execution took longer than it may.',
  'approval.opened': 'An execution asks for an approval.',
  'approval.edited': 'Somebody edited the arguments of a call that an approval is about.',
  'approval.voted': 'Somebody voted on an approval.',
  'approval.resolved': 'An approval was given or refused.',
  'clarification.asked': 'An execution asks a question.',
  'clarification.answered': 'A question was answered.',
  'job.started': 'A run of an enrichment job has begun.',
  'job.finished': 'A run of an enrichment job has ended.',
  'job.paused': 'An enrichment job was paused.',
  'alert.firing': 'An alert rule began to fire. For owners of the workspace.',
  'alert.resolved': 'An alert rule no longer fires. For owners of the workspace.',
  'budget.warning': 'Four fifths of a budget are spent. For owners of the workspace.',
  'budget.exceeded': 'A budget is spent. For owners of the workspace.',
  'credential.needs_reconnect': 'A service no longer accepts a credential.',
  'trigger.renewal_failed':
    'The registration of a trigger at a vendor could not be renewed. For owners of the workspace.',
  'audit.recorded': 'An entry was added to the audit log. For owners of the workspace.',
} as const satisfies Record<string, string>

export const eventFamilies: readonly string[] = [
  ...new Set(Object.keys(eventTypes).map((type) => `${type.split('.')[0]}.*`)),
]
