import { CalendarClock, Hand, type LucideIcon, Plug, Radio, Webhook } from 'lucide-react'
import type { Workflow } from '#sdk/types.generated'
import { useApi, useList } from '#web/api.ts'
import { scheduleInWords } from '#web/features/workflows/schedule-words.ts'

/** One way in which runs of a workflow begin. */
export type Start = { key: string; icon: LucideIcon; what: string; detail: string; off: boolean }

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Everything that starts the workflow; a list that this person may not read counts as empty. */
export function useStarts(workflow: Workflow): Start[] {
  const { workflow_id } = workflow
  const enabled = workflow.kind === 'user'
  const schedules = useApi('listSchedules', { workflow_id }, { enabled })
  const tokens = useList('listWebhookTokens', { workflow_id, limit: 20 }, { enabled })
  const triggers = useList('listTriggers', { workflow_id, limit: 20 }, { enabled })
  return [
    { key: 'hand', icon: Hand, what: 'By hand', detail: 'Run, or another workflow', off: false },
    ...(schedules.data?.items ?? []).map(
      (schedule): Start => ({
        key: schedule.schedule_id,
        icon: CalendarClock,
        what: 'Schedule',
        detail: capital(scheduleInWords(schedule)),
        off: !schedule.enabled,
      }),
    ),
    ...(tokens.data ?? []).map(
      ({ token_id, name, prefix, enabled: on }): Start => ({
        key: token_id,
        icon: Webhook,
        what: 'Webhook',
        detail: name ?? `${prefix}…`,
        off: !on,
      }),
    ),
    ...(workflow.settings.on_event ?? []).map(
      (name): Start => ({ key: `event ${name}`, icon: Radio, what: 'Event', detail: name, off: false }),
    ),
    ...(triggers.data ?? []).map(
      ({ trigger_id, service, trigger, enabled: on }): Start => ({
        key: trigger_id,
        icon: Plug,
        what: service,
        detail: trigger,
        off: !on,
      }),
    ),
  ]
}
