import { Download, Settings } from 'lucide-react'
import type { Dataset } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { MenuItem } from '#web/ui/menu.tsx'
import { RowMenu } from '#web/ui/row-menu.tsx'
import { deletionOf } from './deletion.ts'
import { saveDataset } from './export.ts'

export function DatasetMenu({ dataset }: { dataset: Dataset }) {
  const { canWrite } = useRole()
  const { dataset_id, name } = dataset
  const remove = useChange('deleteDataset', { stale: ['listDatasets'], done: `${name} was deleted` })
  return (
    <RowMenu
      name={name}
      path={`/datasets/${dataset_id}`}
      removal={canWrite && { ...deletionOf(dataset), onConfirm: () => remove.mutateAsync({ dataset_id }) }}
    >
      <MenuItem icon={Download} onSelect={() => void saveDataset(dataset, 'csv')}>
        As CSV, for spreadsheets
      </MenuItem>
      <MenuItem icon={Download} onSelect={() => void saveDataset(dataset, 'jsonl')}>
        As JSON Lines, for programs
      </MenuItem>
      {canWrite && (
        <MenuItem icon={Settings} to={`/datasets/${dataset_id}/settings`}>
          Settings
        </MenuItem>
      )}
    </RowMenu>
  )
}
