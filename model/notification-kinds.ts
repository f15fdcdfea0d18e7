// Kinds of notices for which people can choose the delivery. Shared with the console. Other notices are always shown in
// the console, and only there.

export type NotificationKind = {
  kind: string
  title: string
  /** The notice requests a vote or an answer: it is also sent by mail, unless the person chose otherwise. */
  asks: boolean
}

export const notificationKinds: readonly NotificationKind[] = [
  { kind: 'approval.requested', title: 'Your vote is needed', asks: true },
  { kind: 'approval.reminder', title: 'Your vote is still missing', asks: true },
  { kind: 'approval.escalated', title: 'A vote was escalated to you', asks: true },
  { kind: 'approval.delegated', title: 'A colleague delegated a vote to you', asks: true },
  { kind: 'approval.unsatisfiable', title: 'Nobody is left who can approve', asks: false },
  { kind: 'clarification.asked', title: 'A run has a question for you', asks: true },
  { kind: 'clarification.reminder', title: 'Your answer is still missing', asks: true },
  { kind: 'clarification.escalated', title: 'A question was escalated to you', asks: true },
  { kind: 'thread.handover', title: 'A visitor wants to talk to a person', asks: false },
  { kind: 'thread.visitor_wrote', title: 'A visitor wrote in one of your conversations', asks: false },
  { kind: 'thread.assigned', title: 'A conversation was assigned to you', asks: false },
  { kind: 'execution.failed', title: 'A run failed', asks: false },
  { kind: 'job.failed', title: 'A job failed', asks: false },
  { kind: 'job.paused', title: 'A job was paused', asks: false },
  { kind: 'credential.needs_reconnect', title: 'A credential must be connected again', asks: false },
  { kind: 'trigger.renewal_failed', title: 'A trigger could not be renewed', asks: false },
  { kind: 'workflow.notify', title: 'A workflow wrote to you', asks: false },
  { kind: 'workflow.transfer_offered', title: 'A workflow was offered to you', asks: false },
]
