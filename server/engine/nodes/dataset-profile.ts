import type { NodeKind } from '#engine/node'
import type { JsonObject } from '#model/definition'
import { fromWire, UNKNOWN_ID } from '#platform/ids'
import { checked, fields } from './kind.ts'

/**
 * Profiles a dataset; the datasets area implements it. It reads every record once, page by page. Throws NodeFailure.
 */
export type ProfileDataset = (wanted: {
  workspaceId: string
  executionId: string
  datasetId: string
  signal: AbortSignal
}) => Promise<JsonObject>

const column = fields({
  name: { type: 'string' },
  types: { type: 'array', items: { type: 'string' } },
  nulls: { type: 'integer' },
  distinct: { type: 'integer', description: 'At most 1,000; distinct_more says that there are more' },
  distinct_more: { type: 'boolean' },
  min: { description: 'Of the numbers' },
  max: { description: 'Of the numbers' },
  mean: { description: 'Of the numbers' },
  shortest: { description: 'Characters of the shortest text' },
  longest: { description: 'Characters of the longest text' },
  common: { type: 'array', description: 'The most common values and how often they occur' },
})

export const makeDatasetProfile = ({ profileDataset }: { profileDataset: ProfileDataset }): NodeKind =>
  checked({
    descriptor: {
      type: 'dataset.profile',
      kind: 'tool',
      group: 'data',
      title: 'Profile a dataset',
      description: 'Describes the values of each column of a dataset.',
      icon: 'chart',
      colour: '#0f766e',
      keywords: ['columns', 'statistics', 'quality', 'nulls', 'distinct'],
      args_schema: fields({ dataset_id: { type: 'string', title: 'Dataset', minLength: 1, 'x-id': 'ds' } }, [
        'dataset_id',
      ]),
      output_schema: {
        type: 'object',
        properties: {
          dataset_id: { type: 'string' },
          name: { type: 'string' },
          sha256: { type: 'string' },
          record_count: { type: 'integer' },
          size_bytes: { type: 'integer' },
          columns: { type: 'array', items: column },
        },
      },
      ports: ['out'],
      effect: 'pure',
      defaults: { dataset_id: '' },
    },
    async run({ args, workspaceId, executionId, signal }) {
      const datasetId = fromWire('ds', String(args.dataset_id)) ?? UNKNOWN_ID
      return { output: await profileDataset({ workspaceId, executionId, datasetId, signal }) }
    },
  })
