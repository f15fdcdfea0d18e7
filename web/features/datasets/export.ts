import type { Dataset } from '#sdk/types.generated'
import { api } from '#web/api.ts'
import { saveFile } from '#web/ui/download.ts'
import { toast } from '#web/ui/toast.tsx'

/** Downloads a dataset as a file. */
export async function saveDataset({ dataset_id, name }: Dataset, format: 'csv' | 'jsonl'): Promise<void> {
  try {
    const file = await api.exportDataset({ dataset_id, format })
    saveFile(file, `${name.replaceAll(/[^\p{L}\p{N} ._-]/gu, '_')}.${format}`)
  } catch (error) {
    toast.failed('Could not export', error)
  }
}
