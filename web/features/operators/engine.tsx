import { CircleCheck, TriangleAlert } from 'lucide-react'
import type { EngineHealth } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'
import { Badge, StatusBadge } from '#web/ui/badge.tsx'
import { cx } from '#web/ui/cx.ts'
import { formatNumber } from '#web/ui/format.ts'
import { Page, Section } from '#web/ui/page.tsx'
import { ShortId } from '#web/ui/short-id.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { formatDuration } from '#web/ui/time-words.ts'
import { t } from '#web/words/language.ts'
import { Named } from './named.tsx'
import { OperatorsOnly } from './operators-only.tsx'
import { Poisoned } from './poisoned.tsx'

export const EnginePage = () => (
  <OperatorsOnly title="Engine">
    <Engine />
  </OperatorsOnly>
)

function Engine() {
  const health = useApi('getEngineHealth', {}, { refetchInterval: 3000 })
  return (
    <Page title="Engine" description="Queue, workers and problems. Refreshed every three seconds.">
      <Loaded of={health} what="the state of the engine">
        {(found) => <Health health={found} />}
      </Loaded>
    </Page>
  )
}

function Health({ health }: { health: EngineHealth }) {
  const alive = health.workers.filter((worker) => worker.alive)
  const trouble = [
    alive.length === 0 && t('no worker is running'),
    health.unaccounted.length > 0 && t('{0} live runs have no worker', [health.unaccounted.length]),
    health.poison > 0 && t('{0} runs stopped after five crashes', [health.poison]),
    health.oldest_queued_s > 60 &&
      t('the oldest queued run has waited {0}', [formatDuration(health.oldest_queued_s * 1000)]),
  ].filter((text) => text !== false)
  return (
    <>
      <div
        role="status"
        className={cx(
          'mb-6 flex items-start gap-2 rounded-lg px-4 py-3',
          trouble.length === 0 ? 'bg-success-soft text-success' : 'bg-danger-soft text-danger',
        )}
      >
        {trouble.length === 0 ? (
          <CircleCheck aria-hidden className="mt-0.5 size-4" />
        ) : (
          <TriangleAlert aria-hidden className="mt-0.5 size-4" />
        )}
        <span className="font-medium">
          {trouble.length === 0
            ? 'Healthy. Every live run has a worker or is waiting.'
            : `Attention: ${trouble.join('; ')}.`}
        </span>
      </div>
      <dl className="mb-8 grid grid-cols-2 gap-3 md:grid-cols-5">
        <Figure label="Queued" value={formatNumber(health.queued)} />
        <Figure
          label="Oldest in the queue"
          value={health.queued === 0 ? '–' : formatDuration(health.oldest_queued_s * 1000)}
        />
        <Figure label="Running" value={formatNumber(health.running)} />
        <Figure label="Waiting" value={formatNumber(health.waiting)} />
        <Figure label="Stopped after crashes" value={formatNumber(health.poison)} bad={health.poison > 0} />
      </dl>
      <Section title="Workers">
        <Table
          label="Workers"
          rows={health.workers}
          rowKey={(row) => row.worker_id}
          empty={
            <Empty icon={TriangleAlert} title="No workers">
              Nothing runs until a worker starts. A server started without a role includes a worker.
            </Empty>
          }
          columns={[
            { header: 'Worker', cell: (row) => <code className="font-mono text-xs">{row.worker_id}</code> },
            {
              header: 'State',
              cell: (row) => (
                <Badge tone={row.alive ? 'success' : 'danger'}>{row.alive ? 'Alive' : 'Not responding'}</Badge>
              ),
              width: '7rem',
            },
            { header: 'Running', cell: (row) => formatNumber(row.running), align: 'right', width: '6rem' },
            { header: 'Since', cell: (row) => <RelativeTime at={row.started_at} />, width: '9rem', secondary: true },
          ]}
        />
      </Section>
      <Poisoned rows={health.poisoned} />
      <Section
        title="Inconsistent"
        description="Live runs that have no worker and are not waiting. This list should be empty."
      >
        {health.unaccounted.length === 0 ? (
          <p className="text-ink-2">None.</p>
        ) : (
          <Table
            label="Inconsistent runs"
            rows={health.unaccounted}
            rowKey={(row) => row.execution_id}
            columns={[
              { header: 'Run id', cell: (row) => <ShortId id={row.execution_id} /> },
              {
                header: 'Workspace',
                cell: (row) => <Named name={row.workspace_name} id={row.workspace_id} />,
                secondary: true,
              },
              { header: 'State', cell: (row) => <StatusBadge status={row.status} />, width: '8rem' },
              { header: 'Why', cell: (row) => row.why },
            ]}
          />
        )}
      </Section>
    </>
  )
}

const Figure = ({ label, value, bad = false }: { label: string; value: string; bad?: boolean }) => (
  <div className="rounded-lg border border-line bg-surface p-3">
    <dt className="text-xs text-ink-2">{label}</dt>
    <dd className={cx('mt-1 text-xl font-semibold tabular-nums', bad && 'text-danger')}>{value}</dd>
  </div>
)
