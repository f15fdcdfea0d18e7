import type { NodeKind } from '#engine/node'
import type { Json } from '#model/definition'
import { fromWire, toWire, UNKNOWN_ID } from '#platform/ids'
import { checked, fields } from './kind.ts'

/**
 * Writes records; the datasets area implements it. Each key is written once, however often it is called. Throws
 * NodeFailure.
 */
export type WriteDataset = (wanted: {
  workspaceId: string
  executionId: string
  key: string
  /** The id of an existing dataset, or a name: the newest dataset with that name, which is created if there is none. */
  target: { datasetId: string } | { name: string }
  records: Json[]
  mode: 'replace' | 'append' | 'upsert'
  /** With `upsert`: the field that identifies a record. */
  recordKey: string | null
  startedBy: string | null
}) => Promise<{ datasetId: string; sha256: string; recordCount: number }>

export const makeDatasetWrite = ({ writeDataset }: { writeDataset: WriteDataset }): NodeKind =>
  checked({
    descriptor: {
      type: 'dataset.write',
      kind: 'tool',
      group: 'data',
      title: 'Write a dataset',
      description:
        'Replaces the records of a dataset, appends to them, or updates those with the same key. A new name creates a dataset.',
      icon: 'table',
      colour: '#0f766e',
      keywords: ['records', 'rows', 'table', 'store', 'save', 'append', 'upsert', 'update'],
      args_schema: fields(
        {
          dataset_id: { type: 'string', title: 'Dataset', minLength: 1, 'x-id': 'ds' },
          name: { type: 'string', title: 'Name', minLength: 1, maxLength: 200 },
          records: { type: 'array', title: 'Records', items: { type: 'object' } },
          mode: { title: 'Mode', enum: ['replace', 'append', 'upsert'], default: 'replace' },
          key: {
            type: 'string',
            title: 'Key',
            minLength: 1,
            maxLength: 256,
            description: 'For upsert: records with an existing value of this field are updated, others are added',
          },
        },
        ['records'],
        {
          oneOf: [{ required: ['dataset_id'] }, { required: ['name'] }],
          if: { properties: { mode: { const: 'upsert' } }, required: ['mode'] },
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          then: { required: ['key'] },
        },
      ),
      output_schema: {
        type: 'object',
        properties: {
          dataset_id: { type: 'string' },
          sha256: { type: 'string' },
          record_count: { type: 'integer' },
        },
      },
      ports: ['out'],
      effect: 'idempotent',
      defaults: { name: 'Results', records: [], mode: 'replace' },
    },
    async run({ args, workspaceId, executionId, effectKey, startedBy }) {
      const { datasetId, sha256, recordCount } = await writeDataset({
        workspaceId,
        executionId,
        key: effectKey,
        target:
          typeof args.dataset_id === 'string'
            ? { datasetId: fromWire('ds', args.dataset_id) ?? UNKNOWN_ID }
            : { name: String(args.name).trim() },
        records: args.records as Json[],
        mode: args.mode === 'append' || args.mode === 'upsert' ? args.mode : 'replace',
        recordKey: typeof args.key === 'string' ? args.key : null,
        startedBy,
      })
      return { output: { dataset_id: toWire('ds', datasetId), sha256, record_count: recordCount } }
    },
  })
