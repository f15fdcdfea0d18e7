import { Link } from '@tanstack/react-router'
import { useApi } from '#web/api.ts'
import { Card, Section } from '#web/ui/page.tsx'
import { t } from '#web/words/language.ts'

type Use = { key: string; to: string; name: string; how: string }

/** What depends on this workflow. Nothing is shown if nothing uses it. */
export function WhereUsed({ workflow_id }: { workflow_id: string }) {
  const { data } = useApi('getWorkflowUse', { workflow_id })
  if (!data) return null
  const uses: Use[] = [
    ...data.workflows.map((one) => ({ ...one, to: `/workflows/${one.workflow_id}`, how: t('calls it') })),
    ...data.error_of.map((one) => ({
      ...one,
      to: `/workflows/${one.workflow_id}`,
      how: t('starts it when a run fails'),
    })),
    ...data.jobs.map((one) => ({ ...one, to: `/jobs/${one.job_id}`, how: t('runs it for each record') })),
    ...data.templates.map((one) => ({
      ...one,
      to: `/templates/${one.template_id}`,
      how: t('offers it in conversations'),
    })),
    ...data.suites.map((one) => ({ ...one, to: `/suites/${one.suite_id}`, how: t('tests it') })),
  ].map(({ to, name, how }) => ({ key: `${to} ${how}`, to, name, how }))
  if (uses.length === 0) return null
  return (
    <Section title="Where it is used">
      <Card className="p-2">
        <ul aria-label="Where it is used">
          {uses.map(({ key, to, name, how }) => (
            <li key={key} className="flex flex-wrap items-baseline gap-x-2 px-2 py-1.5">
              <Link to={to} className="min-w-0 truncate font-medium hover:underline">
                {name}
              </Link>
              <span className="text-ink-2">{how}</span>
            </li>
          ))}
        </ul>
      </Card>
    </Section>
  )
}
