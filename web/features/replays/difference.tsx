import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ReplayResult } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { JsonView } from '#web/ui/json-view.tsx'
import { Loading } from '#web/ui/states.tsx'

type Difference = NonNullable<ReplayResult['difference']>

const several = (count: number, one: string, many: string): string[] =>
  count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]

/** What a result says, in one line. */
export function inWords({ difference, reason, mocked }: ReplayResult): string {
  if (reason) return reason.message
  if (!difference) return mocked.length > 0 ? `${mocked.map(({ node_id }) => node_id).join(', ')} mocked` : ''
  return [
    ...(difference.status ? [`${difference.status.before} becomes ${difference.status.after}`] : []),
    ...several(difference.results.length, 'result differs', 'results differ'),
    ...several(difference.path.length, 'step ends otherwise', 'steps end otherwise'),
    ...several(difference.sent.length, 'effect differs', 'effects differ'),
    ...several(difference.asked.length, 'question differs', 'questions differ'),
    ...(difference.unanswered.length > 0 ? [`waits at ${difference.unanswered.join(', ')}`] : []),
  ].join(', ')
}

/** The candidate beside the run that was. */
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
              <p className="text-ink-2">{original.data.status}</p>
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
          <p className="text-ink-2">{difference.status?.after ?? original.data?.status}</p>
          {difference.error?.after && <JsonView label="Error" value={difference.error.after} />}
          {difference.results.length > 0 ? (
            <JsonView label="Changed results" value={difference.results} />
          ) : (
            <p className="text-ink-3">The same results.</p>
          )}
          {difference.unanswered.length > 0 && <p>Waits for an answer at {difference.unanswered.join(', ')}.</p>}
        </Part>
      </div>
      {difference.path.length > 0 && (
        <Part title="Path">
          <ul className="flex flex-col gap-1">
            {difference.path.map(({ node_id, before, after }) => (
              <li key={node_id}>
                <span className="font-mono text-xs">{node_id}</span> {before ?? 'not there'} → {after ?? 'not there'}
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
