/**
 * Every type of event that is sent to clients, with its description. To add a type: add a line here, an example in
 * docs/events.md, and a call of `emitEvent` where the event happens. `event_visible` in the database decides who may
 * see an event; only owners see types that it does not know.
 */
export const eventTypes = {
  'execution.started': 'An execution started.',
  'execution.waiting': 'An execution waits for a person, a time or another execution.',
  'execution.resumed': 'A waiting execution continued.',
  'execution.succeeded': 'An execution succeeded.',
  'execution.failed': 'An execution failed.',
  'execution.cancelled': 'An execution was cancelled.',
  'execution.timed_out': 'An execution exceeded its timeout.',
  'approval.opened': 'An execution requests an approval.',
  'approval.edited': 'A person edited the arguments of the tool call that an approval is about.',
  'approval.voted': 'A vote was cast on an approval.',
  'approval.resolved': 'An approval was decided: approved or rejected.',
  'clarification.asked': 'An execution asks a question.',
  'clarification.answered': 'A question was answered.',
  'job.started': 'A run of an enrichment job started.',
  'job.finished': 'A run of an enrichment job ended.',
  'job.paused': 'An enrichment job was paused.',
  'alert.firing': 'An alert rule started to fire. For owners of the workspace.',
  'alert.resolved': 'An alert rule no longer fires. For owners of the workspace.',
  'budget.warning': '80% of a budget is spent. For owners of the workspace.',
  'budget.exceeded': 'A budget is spent. For owners of the workspace.',
  'credential.needs_reconnect': 'A service no longer accepts a credential.',
  'trigger.renewal_failed':
    'The registration of a trigger at a vendor could not be renewed. For owners of the workspace.',
  'audit.recorded': 'An entry was added to the audit log. For owners of the workspace.',
} as const satisfies Record<string, string>

export const eventFamilies: readonly string[] = [
  ...new Set(Object.keys(eventTypes).map((type) => `${type.split('.')[0]}.*`)),
]
