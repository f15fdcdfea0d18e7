import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import type { Dataset } from '#sdk/types.generated'
import { api } from '#web/api.ts'
import { Badge } from '#web/ui/badge.tsx'
import { formatNumber } from '#web/ui/format.ts'
import { Meter } from '#web/ui/meter.tsx'
import { Empty, Loaded, Skeleton } from '#web/ui/states.tsx'
import { t } from '#web/words/language.ts'
import { DatasetShell } from './dataset-page.tsx'
import { type Figures, figuresOf, shortNumber } from './figures.ts'

const Chart = lazy(() => import('./chart.tsx').then(({ Bars }) => ({ default: Bars })))

const SAMPLE = 2000
const SHOWN_COLUMNS = 60

async function sample(dataset_id: string, signal: AbortSignal): Promise<Record<string, unknown>[]> {
  const records: Record<string, unknown>[] = []
  let cursor: string | undefined
  do {
    const page = await api.listRecords({ dataset_id, limit: 200, ...(cursor && { cursor }) }, { signal })
    records.push(...page.items)
    cursor = page.next_cursor ?? undefined
  } while (cursor && records.length < SAMPLE)
  return records
}

export const ProfilePage = () => (
  <DatasetShell section="Profile">{(dataset) => <Profile dataset={dataset} />}</DatasetShell>
)

function Profile({ dataset }: { dataset: Dataset }) {
  const records = useQuery({
    queryKey: ['listRecords', { dataset_id: dataset.dataset_id, sha256: dataset.sha256 }, 'sample'],
    queryFn: ({ signal }) => sample(dataset.dataset_id, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (dataset.columns.length === 0) return <Empty title="Nothing to profile">This dataset has no columns.</Empty>
  return (
    <Loaded of={records} what="the records">
      {(rows) => (
        <>
          <p className="mb-4 text-ink-2">
            {rows.length < dataset.record_count
              ? `Values of the first ${formatNumber(rows.length)} records; types and missing values of all ${formatNumber(dataset.record_count)}.`
              : dataset.record_count === 1
                ? 'Based on its only record.'
                : `Based on all ${formatNumber(dataset.record_count)} records.`}
            {dataset.columns.length > SHOWN_COLUMNS &&
              ` The first ${SHOWN_COLUMNS} of ${dataset.columns.length} columns.`}
          </p>
          <ul className="grid grid-cols-1 gap-4 md:grid-cols-2 2xl:grid-cols-3">
            {dataset.columns.slice(0, SHOWN_COLUMNS).map((column) => (
              <Column
                key={column.name}
                column={column}
                total={dataset.record_count}
                figures={figuresOf(rows, column.name)}
              />
            ))}
          </ul>
        </>
      )}
    </Loaded>
  )
}

const typeWords: Readonly<Record<string, string>> = {
  string: t('Text'),
  number: t('Number'),
  boolean: t('Yes or no'),
}

function Column({ column, total, figures }: { column: Dataset['columns'][number]; total: number; figures: Figures }) {
  const present = total - column.nulls
  return (
    <li className="flex min-w-0 flex-col gap-3 rounded-lg border border-line bg-surface p-4">
      <div className="flex min-w-0 items-start gap-2">
        <h2 className="min-w-0 flex-1 font-semibold break-words">{column.name}</h2>
        {column.types.map((type) => (
          <Badge key={type}>{typeWords[type] ?? type}</Badge>
        ))}
      </div>
      <Meter
        label="Filled"
        value={present}
        max={total}
        tone={column.nulls === 0 ? 'success' : 'waiting'}
        detail={column.nulls === 0 ? 'in every record' : `missing in ${formatNumber(column.nulls)}`}
      />
      <p className="text-ink-2 tabular-nums">{inWords(figures)}</p>
      {'bars' in figures && figures.bars.length > 0 && (
        <Suspense fallback={<Skeleton className="h-40 w-full" />}>
          <Chart
            bars={figures.bars}
            label={`How often values of ${column.name} occur`}
            upright={figures.kind === 'number'}
          />
        </Suspense>
      )}
    </li>
  )
}

function inWords(figures: Figures): string {
  switch (figures.kind) {
    case 'number':
      return `From ${shortNumber(figures.min)} to ${shortNumber(figures.max)}, mean ${shortNumber(figures.mean)}, median ${shortNumber(figures.median)}; ${formatNumber(figures.distinct)} different.`
    case 'text':
      return `${formatNumber(figures.distinct)} different, ${figures.shortest === figures.longest ? '' : `${figures.shortest} to `}${figures.longest} characters.`
    case 'boolean':
      return 'True or false.'
    case 'other':
      return 'Lists, objects or a mixture.'
    case 'empty':
      return 'Empty in these records.'
  }
}
