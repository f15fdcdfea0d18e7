import { z } from 'zod'
import { id, reference } from '#platform/http/schema'

// How the executions of a workflow are started, limited and kept.

const activationReplay = {
  limit: z.number().int().min(1).max(1000).describe('The number of past runs that the replay must request'),
  max_different: z.number().int().min(0).max(1000).describe('How many of them may be different'),
}
const key = () =>
  z
    .strictObject({ $cel: z.string().min(1).max(2000) })
    .describe('A CEL expression over `input` and `execution` (`trigger`, `started_by`)')
const windowS = () =>
  z
    .number()
    .positive()
    .max(30 * 24 * 3600)

const Concurrency = z
  .strictObject({
    key: key().optional(),
    limit: z.number().int().min(1).max(10_000),
    count: z
      .enum(['running', 'live'])
      .default('running')
      .describe('`running`: a run that waits gives its place back. `live`: it keeps its place to its end'),
    when_full: z.enum(['queue', 'skip', 'cancel_oldest']).default('queue'),
  })
  .describe('The maximum number of active runs with the same key. Cannot be combined with max_concurrency')
const Debounce = z
  .strictObject({ key: key().optional(), window_s: windowS() })
  .describe(
    'Of the runs with the same key that are requested within the window, only the newest starts, after the window has ended',
  )
const Rate = z
  .strictObject({
    limit: z.number().int().min(1).max(10_000),
    per_s: z
      .number()
      .positive()
      .max(24 * 3600),
    key: key().optional(),
  })
  .describe('At most `limit` runs with the same key begin within `per_s` seconds; the others wait')
const Dedupe = z
  .strictObject({ key: key(), window_s: windowS() })
  .describe('A run with a key that was there within the window is cancelled as a duplicate')

export const Settings = z.strictObject({
  timeout_s: z
    .number()
    .positive()
    .max(366 * 24 * 3600)
    .optional(),
  max_concurrency: z.number().int().min(1).max(10_000).optional(),
  concurrency: Concurrency.optional(),
  debounce: Debounce.optional(),
  rate: Rate.optional(),
  dedupe: Dedupe.optional(),
  retention_days: z.number().int().min(1).max(3650).optional(),
  error_workflow_id: reference('wf').optional(),
  finally_grace_s: z
    .number()
    .min(1)
    .max(3600)
    .optional()
    .describe('Seconds that the `finally` nodes of a run may take together; default 60'),
  mcp_tool: z
    .boolean()
    .optional()
    .describe('Whether clients of the Model Context Protocol find it as a tool at `/mcp`'),
  on_event: z
    .array(z.string().min(1).max(200))
    .max(20)
    .optional()
    .describe('Names of events (`POST /api/events`) that start it'),
  activation: z
    .strictObject({
      suite_id: reference('suite').optional(),
      min_score: z.number().min(0).max(1).optional().describe('Part of the cases that must pass; 1 unless given'),
      replay: z.strictObject(activationReplay).optional().describe('A replay over this number of past runs'),
    })
    .optional()
    .describe('What a version must show before it is activated (409 `activation_blocked` otherwise)'),
})

/** A merge patch: null clears a setting. */
export const SettingsPatch = z.strictObject({
  timeout_s: Settings.shape.timeout_s.nullable(),
  max_concurrency: Settings.shape.max_concurrency.nullable(),
  concurrency: Settings.shape.concurrency.nullable(),
  debounce: Settings.shape.debounce.nullable(),
  rate: Settings.shape.rate.nullable(),
  dedupe: Settings.shape.dedupe.nullable(),
  retention_days: Settings.shape.retention_days.nullable(),
  error_workflow_id: Settings.shape.error_workflow_id.nullable(),
  finally_grace_s: Settings.shape.finally_grace_s.nullable(),
  mcp_tool: Settings.shape.mcp_tool
    .nullable()
    .describe('Whether clients of the Model Context Protocol find it as a tool'),
  on_event: Settings.shape.on_event.nullable(),
  activation: Settings.shape.activation.nullable().describe('What a version must show before it is activated'),
})

export const ShownSettings = z.object({
  timeout_s: z.number().optional(),
  max_concurrency: z.number().optional(),
  concurrency: Concurrency.optional(),
  debounce: Debounce.optional(),
  rate: Rate.optional(),
  dedupe: Dedupe.optional(),
  retention_days: z.number().optional(),
  error_workflow_id: id('wf').optional(),
  finally_grace_s: z.number().optional(),
  mcp_tool: z.boolean().optional().describe('Whether clients of the Model Context Protocol find it as a tool'),
  on_event: z.array(z.string()).optional(),
  activation: z
    .object({
      suite_id: id('suite').optional(),
      min_score: z.number().optional().describe('Part of the cases that must pass'),
      replay: z.object(activationReplay).optional().describe('A replay over this number of past runs'),
    })
    .optional()
    .describe('What a version must show before it is activated'),
})
