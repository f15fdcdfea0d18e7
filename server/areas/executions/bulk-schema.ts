import { z } from 'zod'
import { id, jsonTimestamp, reference, timestamp, timestampIn } from '#platform/http/schema'
import { RetryBody, Status, TriggerKind } from './schema.ts'

export const BulkFilter = z
  .strictObject({
    execution_ids: z.array(reference('exe')).min(1).max(1000).optional(),
    workflow_id: reference('wf').optional(),
    status: z.array(Status).min(1).optional(),
    trigger: z.array(TriggerKind).min(1).optional(),
    error_code: z.string().min(1).max(100).optional(),
    tag: z.string().min(1).max(100).optional(),
    from: timestampIn().optional(),
    to: timestampIn().optional(),
  })
  .refine((filter) => Object.keys(filter).length > 0, 'must name at least one condition')
  .describe('All conditions must be true. Only executions of workflows that the caller may run are included')
export type BulkFilter = z.output<typeof BulkFilter>

export const NewBulk = z.strictObject({
  action: z
    .enum(['cancel', 'retry'])
    .describe('`cancel` includes executions that have not ended, `retry` those that did not succeed'),
  filter: BulkFilter,
  from: RetryBody.shape.from.describe('Of a retry: `start`, `failed`, or the id of a node'),
  version: RetryBody.shape.version,
})
export type NewBulk = z.output<typeof NewBulk>

const ShownFilter = z.object({
  execution_ids: z.array(id('exe')).optional(),
  workflow_id: id('wf').optional(),
  status: z.array(z.string()).optional(),
  trigger: z.array(z.string()).optional(),
  error_code: z.string().optional(),
  tag: z.string().optional(),
  from: jsonTimestamp().optional(),
  to: jsonTimestamp().optional(),
})

export const Bulk = z
  .object({
    bulk_id: id('bulk'),
    action: z.enum(['cancel', 'retry']),
    filter: ShownFilter,
    status: z.enum(['running', 'done']),
    total: z.number().int().describe('How many were found at the start'),
    done: z.number().int().describe('How many were cancelled or retried so far'),
    refused: z
      .number()
      .int()
      .describe('How many could not be cancelled or retried, such as those that ended in the meantime'),
    last_error: z.string().nullable().describe('Why the last of them could not be cancelled or retried'),
    created_at: timestamp(),
    finished_at: timestamp().nullable(),
  })
  .meta({ id: 'ExecutionBulk' })
export type Bulk = z.input<typeof Bulk>
