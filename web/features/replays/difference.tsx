import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ReplayResult } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'
import { StatusBadge, statusLabel } from '#web/ui/badge.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { JsonView } from '#web/ui/json-view.tsx'
import { Loading } from '#web/ui/states.tsx'
import { t } from '#web/words/language.ts'

type Difference = NonNullable<ReplayResult['difference']>

const several = (count: number, one: string, many: string): string[] =>
  count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]

/** Describes a result in one line. */
export function inWords({ difference, reason, mocked }: ReplayResult): string {
  if (reason) return reason.message
  if (!difference) return mocked.length > 0 ? `${mocked.map(({ node_id }) => node_id).join(', ')} mocked` : ''
  return [
    ...(difference.status
      ? [`${statusLabel(difference.status.before ?? '–')} becomes ${statusLabel(difference.status.after ?? '–')}`]
      : []),
    ...several(difference.results.length, t('result differs'), t('results differ')),
    ...several(difference.path.length, t('step ends differently'), t('steps end differently')),
    ...several(difference.sent.length, t('effect differs'), t('effects differ')),
    ...several(difference.asked.length, t('question differs'), t('questions differ')),
    ...(difference.unanswered.length > 0 ? [t('waits at {0}', [difference.unanswered.join(', ')])] : []),
  ].join(', ')
}

/** The replay beside the original execution. */
export function BesideOriginal({ result, onClose }: { result: ReplayResult | null; onClose(): void }) {
  return (
    <Dialog open={result !== null} onClose={onClose} title={`Run ${(result?.position ?? 0) + 1}`} size="large">
      {result?.difference && <Sides executionId={result.execution_id} difference={result.difference} result={result} />}
    </Dialog>
  )
}

function Sides({
  executionId,
  difference,
  result,
}: {
  executionId: string
  difference: Difference
  result: ReplayResult
}) {
  const original = useApi('getExecution', { execution_id: executionId })
  return (
    <div className="flex flex-col gap-5">
      <div className="grid gap-4 md:grid-cols-2">
        <Part title="Original">
          {original.data ? (
            <>
              <p>
                <StatusBadge status={original.data.status} />
              </p>
              <JsonView label="Original results" value={original.data.results ?? null} />
              <Link to={`/runs/${executionId}` as string} className="text-accent-strong underline underline-offset-2">
                Open the run
              </Link>
            </>
          ) : (
            <Loading rows={2} label="Loading the run" />
          )}
        </Part>
        <Part title="Candidate">
          {(difference.status ?? original.data) && (
            <p>
              <StatusBadge status={difference.status?.after ?? original.data?.status ?? ''} />
            </p>
          )}
          {difference.error?.after && <JsonView label="Error" value={difference.error.after} />}
          {difference.results.length > 0 ? (
            <JsonView label="Changed results" value={difference.results} />
          ) : (
            <p className="text-ink-3">The same results.</p>
          )}
          {difference.unanswered.length > 0 && <p>Waiting for an answer at {difference.unanswered.join(', ')}.</p>}
        </Part>
      </div>
      {difference.path.length > 0 && (
        <Part title="Path">
          <ul className="flex flex-col gap-1">
            {difference.path.map(({ node_id, before, after }) => (
              <li key={node_id}>
                <span className="font-mono text-xs">{node_id}</span> {before ?? 'missing'} → {after ?? 'missing'}
              </li>
            ))}
          </ul>
        </Part>
      )}
      <Made title="Effects" made={difference.sent} />
      <Made title="Gates and questions" made={difference.asked} />
      {result.mocked.length > 0 && (
        <p className="text-ink-2">Mocked: {result.mocked.map(({ node_id }) => node_id).join(', ')}.</p>
      )}
    </div>
  )
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="flex min-w-0 flex-col gap-2">
    <h3 className="font-semibold">{title}</h3>
    {children}
  </section>
)

function Made({ title, made }: { title: string; made: Difference['sent'] }) {
  if (made.length === 0) return null
  return (
    <Part title={title}>
      {made.map(({ node_id, type, before, after }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a node may act several times, and the list never changes
        <div key={`${node_id} ${index}`} className="grid gap-4 md:grid-cols-2">
          <Side label={`${node_id} (${type}), original`} value={before} nothing="Did not happen." />
          <Side label={`${node_id} (${type}), candidate`} value={after} nothing="Would not happen." />
        </div>
      ))}
    </Part>
  )
}

const Side = ({ label, value, nothing }: { label: string; value: unknown; nothing: string }) =>
  value === null ? <p className="text-ink-3">{nothing}</p> : <JsonView label={label} value={value} />
