import { z } from 'zod'
import { anyId, defineList } from '#platform/http/list'
import { filePart, id, jsonObject, listQuery, name, reference, timestamp } from '#platform/http/schema'

const Column = z.object({
  name: z.string(),
  types: z.array(z.enum(['string', 'number', 'boolean', 'object', 'array'])),
  nulls: z.number().int().describe('Records in which the value is null or missing'),
})

const summary = {
  dataset_id: id('ds'),
  workspace_id: id('ws'),
  name: z.string(),
  description: z.string().nullable(),
  sha256: z.string().describe('SHA-256 of the RFC 8785 canonical JSON of the array of records'),
  record_count: z.number().int(),
  size_bytes: z.number().int().describe('Canonical JSON of all records'),
  columns: z.array(Column),
  created_by: id('usr').nullable(),
  created_at: timestamp(),
  updated_at: timestamp(),
}

/** A dataset without its records, for lists and for responses that create or change a dataset. */
export const Dataset = z.object(summary).meta({ id: 'Dataset' })
export type Dataset = z.input<typeof Dataset>

export const DatasetWithRecords = z
  .object({ ...summary, records: z.array(jsonObject()) })
  .meta({ id: 'DatasetWithRecords' })

const description = z.string().max(5_000)

export const NewDataset = z
  .strictObject({ name: name(), description: description.nullable().optional(), records: z.array(jsonObject()) })
  .meta({ id: 'NewDataset' })
export const DatasetPatch = z
  .strictObject({
    name: name().optional(),
    description: description.nullable().optional(),
    records: z.array(jsonObject()).optional(),
  })
  .meta({ id: 'DatasetPatch' })

/** The fields of the bodies without the records, which are read as a stream. */
export const newFields = z.strictObject({ name: name(), description: description.nullable().optional() })
export const patchFields = z.strictObject({
  name: name().optional(),
  description: description.nullable().optional(),
})
/** Only for the OpenAPI document: the file itself is read as a stream. */
export const ImportForm = patchFields.extend({ file: filePart() })

export const ImportQuery = z.strictObject({ infer: z.enum(['true', 'false']).default('false') })
export const RecordsQuery = listQuery
export const ExportQuery = z.strictObject({ format: z.enum(['csv', 'jsonl']).default('jsonl') })

export const Capture = z
  .strictObject({
    source_id: reference('src'),
    name: name().optional(),
    limit: z.number().int().min(1).max(1_000_000).optional(),
  })
  .meta({ id: 'Capture' })

export const serverOwned = new Set(Object.keys(summary).filter((field) => field !== 'name' && field !== 'description'))

export const datasetList = defineList({
  id: 'dataset_id',
  search: ['name', 'description'],
  sort: { created_at: 'id', updated_at: 'time', name: 'text', record_count: 'number', size_bytes: 'number' },
  order: '-created_at',
  filters: { created_by: anyId('usr', 'Only datasets that this person made') },
})
