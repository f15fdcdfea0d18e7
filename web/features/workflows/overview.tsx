import { Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import type { Definition } from '#model/definition'
import type { Workflow } from '#sdk/types.generated'
import { useApi, useList } from '#web/api.ts'
import { useStarts } from '#web/editor/starts/use-starts.ts'
import { usePeople } from '#web/people.tsx'
import { ButtonLink } from '#web/ui/button.tsx'
import { cx } from '#web/ui/cx.ts'
import { Card, FactRow, Section } from '#web/ui/page.tsx'
import { Empty, Loaded, Skeleton } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { t } from '#web/words/language.ts'
import { RecentFigures } from '../insights/figures.tsx'
import { RunTable } from '../runs/run-table.tsx'
import { workflowDescription, workflowName } from './built-in.ts'
import { mayChange, type WorkflowRole } from './role.ts'
import { definitionOf, useVersion } from './versions-of.ts'
import { WhereUsed } from './where-used.tsx'
import { WorkflowPage } from './workflow-page.tsx'

const StepsGraph = lazy(() => import('../runs/steps-graph.tsx').then((module) => ({ default: module.StepsGraph })))

export const OverviewPage = () => (
  <WorkflowPage section="Overview">{(workflow, role) => <Overview workflow={workflow} role={role} />}</WorkflowPage>
)

function Overview({ workflow, role }: { workflow: Workflow; role: WorkflowRole }) {
  const { nameOf } = usePeople()
  const { version } = useVersion(workflow.workflow_id, workflow.active_version_id)
  const definition = version ? definitionOf(version) : (workflow.definition as Definition | undefined)
  const involved = role !== 'none' && workflow.kind === 'user'
  const description = workflowDescription(workflow)
  return (
    <>
      {description && <p className="mb-5 max-w-prose text-ink-2">{description}</p>}
      <Card className="mb-5 min-h-64 overflow-hidden p-0">
        {definition ? (
          <Suspense fallback={<Skeleton className="h-72 w-full" />}>
            <StepsGraph definition={definition} className="h-72" label={`Steps of ${workflowName(workflow)}`} />
          </Suspense>
        ) : (
          <NoGraph workflow={workflow} role={role} />
        )}
      </Card>
      <div className="mb-8">
        <FactRow
          facts={
            workflow.kind === 'system'
              ? builtInFacts
              : [
                  ['Owner', nameOf(workflow.owner_id)],
                  [
                    'Members',
                    workflow.members.length === 0
                      ? 'none'
                      : workflow.members.map(({ user_id }) => nameOf(user_id)).join(', '),
                  ],
                  [
                    'Version',
                    version
                      ? `${version.number}${version.note ? `, ${version.note}` : ''}`
                      : workflow.active_version_id === null
                        ? 'none active'
                        : 'one is active',
                  ],
                  ['Starts', <Starts key="starts" workflow={workflow} isKnown={involved} />],
                  ['Changed', <RelativeTime key="changed" at={workflow.updated_at} />],
                ]
          }
        />
      </div>
      {involved && <RecentFigures workflow_id={workflow.workflow_id} />}
      {involved && <WhereUsed workflow_id={workflow.workflow_id} />}
      {workflow.kind === 'system' ? <SystemRuns workflow={workflow} /> : involved && <RecentRuns workflow={workflow} />}
    </>
  )
}

/** Each schedule, webhook, trigger … of the workflow, with its name. */
function Starts({ workflow, isKnown }: { workflow: Workflow; isKnown: boolean }) {
  const { workflow_id } = workflow
  const schedules = useApi('listSchedules', { workflow_id }, { enabled: isKnown })
  const starts = useStarts(workflow, isKnown).filter(({ kind }) => kind !== 'hand')
  if (!isKnown) return t('manually, by webhook or by another workflow')
  if (schedules.isPending) return '…'
  if (starts.length === 0) return t('by hand or through the API')
  const nextOf = (id: string): string | null | undefined =>
    schedules.data?.items.find(({ schedule_id }) => schedule_id === id)?.next_run_at
  return starts.map(({ key, kind, id, what, detail, off }) => {
    const next = kind === 'schedule' && !off ? nextOf(id) : null
    return (
      <span key={key} className={cx('block', off && 'text-ink-2')}>
        {kind === 'schedule' ? detail : `${what}: ${detail}`}
        {off && t(' (off)')}
        {next && (
          <span className="block text-ink-2">
            next <RelativeTime at={next} />
          </span>
        )}
      </span>
    )
  })
}

const builtInFacts: [string, string][] = [
  [t('Owner'), t('part of Heddle')],
  [t('Starts'), t('manually or by another workflow')],
  [t('Changes'), t('with each release')],
]

function NoGraph({ workflow, role }: { workflow: Workflow; role: WorkflowRole }) {
  if (role === 'none')
    return (
      <Empty className="h-full border-none" title="Only members can see the steps">
        Ask {'its owner'} to share it with you.
      </Empty>
    )
  return (
    <Empty
      className="h-full border-none"
      title="No version yet"
      action={
        mayChange(role) && (
          <ButtonLink to={`/workflows/${workflow.workflow_id}/editor`} look="primary">
            Open the editor
          </ButtonLink>
        )
      }
    >
      Add steps in the editor and save a version.
    </Empty>
  )
}

function RecentRuns({ workflow }: { workflow: Workflow }) {
  const runs = useList('listExecutions', { workflow_id: workflow.workflow_id, limit: 8 })
  return (
    <Section
      title="Recent runs"
      actions={
        <Link to={`/workflows/${workflow.workflow_id}/runs`} className="text-accent hover:underline">
          All runs
        </Link>
      }
    >
      <Loaded of={runs} what="the runs">
        {(rows) => <RunTable rows={rows} withoutWorkflow />}
      </Loaded>
    </Section>
  )
}

function SystemRuns({ workflow }: { workflow: Workflow }) {
  const runs = useList('listSystemExecutions', { workflow_id: workflow.workflow_id, limit: 20 })
  return (
    <Section title="Your runs">
      <Loaded of={runs} what="the runs">
        {(rows) => <RunTable rows={rows} more={runs.more} withoutWorkflow />}
      </Loaded>
    </Section>
  )
}
