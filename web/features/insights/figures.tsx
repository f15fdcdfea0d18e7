import { Link } from '@tanstack/react-router'
import { useApi, useList } from '#web/api.ts'
import { Bars } from '#web/ui/bars.tsx'
import { formatNumber } from '#web/ui/format.ts'
import { Card, FactRow, Section } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { formatDuration } from '#web/ui/time-words.ts'
import { t } from '#web/words/language.ts'
import { columnsOf, costWords, rangeOf, share } from './words.ts'

const DAYS = 14
const parts = [t('succeeded'), t('failed'), t('cancelled')]

/**
 * The last two weeks of the workspace, or of one workflow, as a chart and a line of figures. Empty if nothing has run.
 */
export function RecentFigures({ workflow_id }: { workflow_id?: string }) {
  const { from, bucket } = rangeOf(DAYS, Date.now())
  const of = { from, ...(workflow_id !== undefined && { workflow_id }) }
  const runs = useApi('getRunInsights', { ...of, bucket }, { refetchInterval: 30_000 })
  const usage = useApi('getUsageInsights', { ...of, group_by: 'day' }, { staleTime: 60_000 })
  const waiting = useWaitingForPeople(workflow_id)
  if (runs.data?.total.total === 0 && waiting === 0) return null
  return (
    <Section
      title="Last 14 days"
      actions={
        <Link
          to="/insights"
          search={{ days: '30', ...(workflow_id !== undefined && { workflow_id }) } as never}
          className="text-accent hover:underline"
        >
          Insights
        </Link>
      }
    >
      <Loaded of={runs} what="the figures">
        {({ items, total }) => (
          <Card>
            <Bars
              label="Runs over time"
              names={parts}
              columns={columnsOf(items, from, bucket, Date.now()).map(({ label, succeeded, failed, other }) => ({
                label,
                parts: [succeeded, failed, other],
              }))}
            />
            <div className="mt-4">
              <FactRow
                facts={[
                  ['Runs', formatNumber(total.total)],
                  ['Failed', share(total.failed + total.timed_out, total.total)],
                  ['Duration p95', total.duration_ms ? formatDuration(total.duration_ms.p95) : '–'],
                  [
                    'Waiting for people now',
                    waiting === MAX_COUNTED ? `${MAX_COUNTED} or more` : formatNumber(waiting),
                  ],
                  ['Cost of models', usage.data ? costWords(usage.data.total) : '–'],
                ]}
              />
            </div>
          </Card>
        )}
      </Loaded>
    </Section>
  )
}

const MAX_COUNTED = 200

function useWaitingForPeople(workflow_id: string | undefined): number {
  const waiting = useList(
    'searchExecutions',
    { status: 'waiting', limit: MAX_COUNTED, ...(workflow_id !== undefined && { workflow_id }) },
    { refetchInterval: 30_000 },
  )
  return (waiting.data ?? []).filter(({ waiting_for }) =>
    waiting_for.some(({ kind }) => kind === 'approval' || kind === 'clarification'),
  ).length
}
