import { Download } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Dataset } from '#sdk/types.generated'
import { Button } from '#web/ui/button.tsx'
import { formatBytes, formatNumber, plural } from '#web/ui/format.ts'
import { Menu, MenuItem } from '#web/ui/menu.tsx'
import { Page } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { TabLinks } from '#web/ui/tabs.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { saveDataset } from './export.ts'
import { Fingerprint } from './fingerprint.tsx'
import { useDataset } from './use-dataset.ts'

/** The frame around each section of a dataset. */
export function DatasetShell({ section, children }: { section: string; children(dataset: Dataset): ReactNode }) {
  const dataset = useDataset()
  return (
    <Page
      wide
      title={dataset.data ? `${dataset.data.name} · ${section}` : section}
      heading={dataset.data?.name ?? 'Dataset'}
      crumbs={[{ label: 'Datasets', to: '/datasets' }]}
      description={dataset.data && <About dataset={dataset.data} />}
      actions={dataset.data && <Export dataset={dataset.data} />}
    >
      <Loaded of={dataset} what="the dataset">
        {(found) => (
          <>
            <TabLinks
              label="Sections of the dataset"
              tabs={[
                { to: `/datasets/${found.dataset_id}`, label: 'Records', exact: true },
                { to: `/datasets/${found.dataset_id}/profile`, label: 'Profile' },
                { to: `/datasets/${found.dataset_id}/settings`, label: 'Settings' },
              ]}
            />
            {children(found)}
          </>
        )}
      </Loaded>
    </Page>
  )
}

const About = ({ dataset }: { dataset: Dataset }) => (
  <>
    {dataset.description && <p className="mb-1 break-words whitespace-pre-wrap">{dataset.description}</p>}
    <p className="flex flex-wrap gap-x-3">
      <span>
        {formatNumber(dataset.record_count)} {dataset.record_count === 1 ? 'record' : 'records'}
      </span>
      <span>{plural(dataset.columns.length, 'column', 'columns')}</span>
      <span>{formatBytes(dataset.size_bytes)}</span>
      <span>
        fingerprint <Fingerprint sha256={dataset.sha256} />
      </span>
      <span>
        changed <RelativeTime at={dataset.updated_at} />
      </span>
    </p>
  </>
)

function Export({ dataset }: { dataset: Dataset }) {
  return (
    <Menu trigger={<Button icon={Download}>Export</Button>}>
      <MenuItem onSelect={() => void saveDataset(dataset, 'csv')}>As CSV, for spreadsheets</MenuItem>
      <MenuItem onSelect={() => void saveDataset(dataset, 'jsonl')}>As JSON Lines, for programs</MenuItem>
    </Menu>
  )
}
