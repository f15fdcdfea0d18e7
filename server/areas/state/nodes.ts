import { type NodeCall, NodeFailure, type NodeKind } from '#engine/node'
import { checked, fields } from '#engine/nodes/kind'
import type { NodeDescriptor } from '#model/node'
import type { Database } from '#platform/db/pool'
import { readState, type StateAt, writeState } from './service.ts'

const key = {
  type: 'string',
  title: 'Key',
  description: 'Letters, digits and _ . : @ -, at most 128',
  pattern: '^[A-Za-z0-9_.:@-]{1,128}$',
}

const look: Pick<NodeDescriptor, 'kind' | 'group' | 'icon' | 'colour' | 'ports'> = {
  kind: 'tool',
  group: 'data',
  icon: 'database',
  colour: '#0f766e',
  ports: ['out'],
}

const placeOf = ({ workspaceId, workflowId, args }: NodeCall): StateAt => {
  if (workflowId === null)
    throw new NodeFailure('state_unavailable', 'only workflows have state; this run does not belong to a workflow', {
      retryable: false,
    })
  return { workspaceId, workflowId, key: String(args.key) }
}

const makeGet = (db: Database): NodeKind =>
  checked({
    descriptor: {
      ...look,
      type: 'state.get',
      title: 'Read state',
      description: 'Reads the value that an earlier run of this workflow stored under a key.',
      keywords: ['remember', 'memory', 'cursor', 'key', 'value', 'store', 'load'],
      args_schema: fields(
        { key, default: { title: 'Default', description: 'The value if nothing is stored. Default: null' } },
        ['key'],
      ),
      output_schema: {
        type: 'object',
        properties: {
          value: { description: 'What is stored, or the default' },
          version: { type: 'integer', description: '0 if nothing is stored. Give it to "if_version" of state.set' },
        },
      },
      effect: 'pure',
      defaults: { key: 'cursor' },
    },
    async run(call) {
      const entry = await readState(db, placeOf(call))
      return {
        output: entry
          ? { value: entry.value, version: entry.version }
          : { value: call.args.default ?? null, version: 0 },
      }
    },
  })

const makeSet = (db: Database): NodeKind =>
  checked({
    descriptor: {
      ...look,
      type: 'state.set',
      title: 'Store state',
      description:
        'Stores a value under a key for later runs of this workflow. With "if_version", the value is stored only if it has not changed since it was read.',
      keywords: ['remember', 'memory', 'cursor', 'key', 'value', 'save', 'lock', 'compare'],
      args_schema: fields(
        {
          key,
          value: { title: 'Value', description: 'Any JSON up to 64 KiB. null deletes the key' },
          if_version: {
            type: 'integer',
            title: 'Only if version',
            description:
              'The version that state.get returned; 0: the key must not exist. Otherwise the node fails with state_conflict',
            minimum: 0,
          },
        },
        ['key', 'value'],
      ),
      output_schema: { type: 'object', properties: { version: { type: 'integer' } } },
      effect: 'idempotent',
      defaults: { key: 'cursor', value: null },
    },
    async run(call) {
      const { args, effectKey, executionId } = call
      const ifVersion = typeof args.if_version === 'number' ? args.if_version : undefined
      const wanted = { ...placeOf(call), value: args.value ?? null, ifVersion, effectKey, executionId }
      return { output: await writeState(db, wanted) }
    },
  })

export const stateNodes = (db: Database): NodeKind[] => [makeGet(db), makeSet(db)]
