import type { NodeKind } from '#engine/node'
import type { JsonObject } from '#model/definition'
import { fromWire, UNKNOWN_ID } from '#platform/ids'
import { checked, fields } from './kind.ts'

/**
 * Reads a dataset; the datasets area implements it. The first read by an execution pins the fingerprint of the
 * dataset. A later read that finds another fingerprint fails with `dataset_changed`. Throws NodeFailure.
 */
export type ReadDataset = (wanted: {
  workspaceId: string
  executionId: string
  datasetId: string
  /** Returns only records whose fields equal these. */
  where: JsonObject
  limit: number
  signal: AbortSignal
}) => Promise<{ records: JsonObject[]; sha256: string }>

const MAX_RECORDS = 10_000
const DEFAULT_RECORDS = 1_000

export const makeDatasetRead = ({ readDataset }: { readDataset: ReadDataset }): NodeKind =>
  checked({
    descriptor: {
      type: 'dataset.read',
      kind: 'tool',
      group: 'data',
      title: 'Read a dataset',
      description: 'Reads records from a dataset: all, or those whose fields match.',
      icon: 'table',
      colour: '#0f766e',
      keywords: ['records', 'rows', 'table', 'csv', 'load', 'look up'],
      args_schema: fields(
        {
          dataset_id: { type: 'string', title: 'Dataset', minLength: 1, 'x-id': 'ds' },
          where: { type: 'object', title: 'Where', description: 'Fields and their required values' },
          limit: { type: 'integer', title: 'Limit', minimum: 1, maximum: MAX_RECORDS, default: DEFAULT_RECORDS },
        },
        ['dataset_id'],
      ),
      output_schema: {
        type: 'object',
        properties: { records: { type: 'array', items: { type: 'object' } }, sha256: { type: 'string' } },
      },
      ports: ['out'],
      effect: 'pure',
      defaults: { dataset_id: '' },
    },
    async run({ args, workspaceId, executionId, signal }) {
      const { records, sha256 } = await readDataset({
        workspaceId,
        executionId,
        datasetId: fromWire('ds', String(args.dataset_id)) ?? UNKNOWN_ID,
        where: (args.where ?? {}) as JsonObject,
        limit: Number(args.limit ?? DEFAULT_RECORDS),
        signal,
      })
      return { output: { records, sha256 } }
    },
  })
