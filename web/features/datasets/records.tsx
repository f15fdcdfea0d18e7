import { useState } from 'react'
import type { Dataset } from '#sdk/types.generated'
import { useList } from '#web/api.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Select } from '#web/ui/field.tsx'
import { formatNumber } from '#web/ui/format.ts'
import { JsonView } from '#web/ui/json-view.tsx'
import { Empty, ErrorState, Loaded } from '#web/ui/states.tsx'
import { type Column, Table } from '#web/ui/table.tsx'
import { Cell } from './cell.tsx'
import { DatasetShell } from './dataset-page.tsx'

export const RecordsPage = () => (
  <DatasetShell section="Records">{(dataset) => <Records key={dataset.sha256} dataset={dataset} />}</DatasetShell>
)

const SHOWN_COLUMNS = 12

type Row = Record<string, unknown>

function Records({ dataset }: { dataset: Dataset }) {
  const records = useList('listRecords', { dataset_id: dataset.dataset_id, limit: 200 })
  const [shown, setShown] = useState<{ at: number; record: Row } | null>(null)
  const [from, setFrom] = useState(0)
  const visible = dataset.columns.slice(from, from + SHOWN_COLUMNS)
  const columns: Column<Row>[] = [
    {
      header: <span className="sr-only">Record</span>,
      width: '4rem',
      align: 'right',
      cell: (record, at) => (
        <button
          type="button"
          className="text-xs text-ink-2 tabular-nums hover:text-ink hover:underline"
          aria-label={`Record ${at + 1} in full`}
          onClick={() => setShown({ at, record })}
        >
          {at + 1}
        </button>
      ),
    },
    ...visible.map(
      ({ name, types }): Column<Row> => ({
        header: (
          <span title={name} className="block truncate">
            {name}
          </span>
        ),
        width: '11rem',
        align: types.every((type) => type === 'number') ? 'right' : 'left',
        cell: (record) => <Cell value={record[name]} />,
      }),
    ),
  ]
  return (
    <>
      {dataset.columns.length > SHOWN_COLUMNS && (
        <div className="mb-3 max-w-xs">
          <Field label="Columns shown">
            <Select
              value={String(from)}
              onChange={(event) => setFrom(Number(event.currentTarget.value))}
              options={Array.from({ length: Math.ceil(dataset.columns.length / SHOWN_COLUMNS) }, (_, page) => ({
                value: String(page * SHOWN_COLUMNS),
                label: `${page * SHOWN_COLUMNS + 1} to ${Math.min(dataset.columns.length, (page + 1) * SHOWN_COLUMNS)} of ${dataset.columns.length}`,
              }))}
            />
          </Field>
        </div>
      )}
      <Loaded of={records} what="the records" rows={8}>
        {(rows) => (
          <>
            <Table
              label={`Records of ${dataset.name}`}
              rows={rows}
              rowKey={(_, at) => String(at)}
              columns={columns}
              more={records.more}
              empty={<Empty title="This dataset has no records">It was created without records.</Empty>}
            />
            {records.error && (
              <ErrorState error={records.error} what="the next records" onRetry={() => void records.refetch()} />
            )}
            {rows.length > 0 && (
              <p className="mt-2 text-xs text-ink-2">
                {rows.length < dataset.record_count
                  ? `${formatNumber(rows.length)} of ${formatNumber(dataset.record_count)} loaded. Scroll to load more.`
                  : `All ${formatNumber(rows.length)}.`}
              </p>
            )}
          </>
        )}
      </Loaded>
      <Dialog
        open={shown !== null}
        onClose={() => setShown(null)}
        title={`Record ${(shown?.at ?? 0) + 1}`}
        size="large"
      >
        {shown && <JsonView value={shown.record} label={`Record ${shown.at + 1}`} />}
      </Dialog>
    </>
  )
}
