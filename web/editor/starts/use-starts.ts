import {
  AppWindow,
  CalendarClock,
  Hand,
  ListChecks,
  type LucideIcon,
  MessageSquare,
  Plug,
  Radio,
  Webhook,
  Workflow as WorkflowIcon,
} from 'lucide-react'
import type { Workflow } from '#sdk/types.generated'
import { useApi, useList } from '#web/api.ts'
import { useTriggerNames } from '#web/features/services/use-trigger-names.ts'
import { scheduleInWords } from '#web/features/workflows/schedule-words.ts'
import { capitalize } from '#web/ui/format.ts'
import { t } from '#web/words/language.ts'

export type StartKind = 'hand' | 'schedule' | 'webhook' | 'event' | 'service' | 'form' | 'chat' | 'job' | 'workflow'

/** One trigger of a workflow. */
export type Start = {
  key: string
  kind: StartKind
  /** The id of the schedule, token, trigger, job … */
  id: string
  icon: LucideIcon
  what: string
  detail: string
  off: boolean
}

/** Returns all triggers of the workflow; a list that this user may not read counts as empty. */
export function useStarts(workflow: Workflow, isWanted = true): Start[] {
  const { workflow_id } = workflow
  const enabled = isWanted && workflow.kind === 'user'
  const schedules = useApi('listSchedules', { workflow_id }, { enabled })
  const tokens = useList('listWebhookTokens', { workflow_id, limit: 20 }, { enabled })
  const triggers = useList('listTriggers', { workflow_id, limit: 20 }, { enabled })
  const embeds = useList('listEmbedTokens', { workflow_id, limit: 20 }, { enabled })
  const nameOf = useTriggerNames()
  const use = useApi('getWorkflowUse', { workflow_id }, { enabled })
  const start = (
    kind: StartKind,
    id: string,
    icon: LucideIcon,
    [what, detail]: [what: string, detail: string],
    off = false,
  ): Start => ({ key: `${kind} ${id}`, kind, id, icon, what, detail, off })
  return [
    start('hand', '', Hand, ['By hand', 'With Run, or through the API']),
    ...(schedules.data?.items ?? []).map((schedule) =>
      start(
        'schedule',
        schedule.schedule_id,
        CalendarClock,
        [t('Schedule'), capitalize(scheduleInWords(schedule))],
        !schedule.enabled,
      ),
    ),
    ...(tokens.data ?? []).map(({ token_id, name, prefix, enabled: on }) =>
      start('webhook', token_id, Webhook, [t('Webhook'), name ?? `${prefix}…`], !on),
    ),
    ...(workflow.settings.on_event ?? []).map((name) => start('event', name, Radio, [t('Event'), name])),
    ...(triggers.data ?? []).map((found) => {
      const { service, trigger } = nameOf(found)
      return start('service', found.trigger_id, Plug, [service, trigger], !found.enabled)
    }),
    ...(embeds.data ?? []).map(({ token_id, name, prefix, enabled: on }) =>
      start('form', token_id, AppWindow, ['Form on a site', name ?? `${prefix}…`], !on),
    ),
    ...(use.data?.templates ?? []).map(({ template_id, name }) =>
      start('chat', template_id, MessageSquare, ['Chat and channels', name]),
    ),
    ...(use.data?.jobs ?? []).map(({ job_id, name }) => start('job', job_id, ListChecks, [t('Job'), name])),
    ...(use.data?.workflows ?? []).map(({ workflow_id: id, name }) =>
      start('workflow', id, WorkflowIcon, [t('Workflow'), name]),
    ),
  ]
}
