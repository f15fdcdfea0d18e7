import { FileUp, Plus, Table2 } from 'lucide-react'
import { useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { ButtonLink } from '#web/ui/button.tsx'
import { formatBytes, formatNumber } from '#web/ui/format.ts'
import { ListPage } from '#web/ui/list-page.tsx'
import { menuColumn } from '#web/ui/row-menu.tsx'
import { useSearchText } from '#web/ui/search.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { Fingerprint } from './fingerprint.tsx'
import { DatasetMenu } from './row-menu.tsx'

export function DatasetsPage() {
  const { canWrite } = useRole()
  const search = useSearchText()
  const datasets = useList('listDatasets', { limit: 100, ...search.query })
  const add = canWrite && (
    <>
      <ButtonLink to="/datasets/new" icon={Plus}>
        Enter records
      </ButtonLink>
      <ButtonLink to="/datasets/import" look="primary" icon={FileUp}>
        Import a file
      </ButtonLink>
    </>
  )
  return (
    <ListPage
      title="Datasets"
      description="Lists of records for workflows, jobs and suites. A fingerprint shows every change."
      what="the datasets"
      list={datasets}
      search={search}
      create={add}
      empty={{
        icon: Table2,
        title: 'No datasets yet',
        text: canWrite
          ? 'Import a CSV or JSON file, enter a few records, or capture a source from a connection.'
          : 'Workspace members can import one.',
      }}
      rowKey={(row) => row.dataset_id}
      rowTo={(row) => `/datasets/${row.dataset_id}`}
      columns={[
        {
          header: 'Name',
          link: true,
          cell: (row) => row.name,
        },
        { header: 'Records', cell: (row) => formatNumber(row.record_count), align: 'right', width: '8rem' },
        {
          header: 'Columns',
          cell: (row) => formatNumber(row.columns.length),
          align: 'right',
          width: '6rem',
          secondary: true,
        },
        {
          header: 'Size',
          cell: (row) => formatBytes(row.size_bytes),
          align: 'right',
          width: '7rem',
          secondary: true,
        },
        {
          header: 'Fingerprint',
          cell: (row) => <Fingerprint sha256={row.sha256} />,
          width: '10rem',
          secondary: true,
        },
        {
          header: 'Changed',
          cell: (row) => <RelativeTime at={row.updated_at} />,
          width: '9rem',
          secondary: true,
        },
        { ...menuColumn, cell: (row) => <DatasetMenu dataset={row} /> },
      ]}
    />
  )
}
