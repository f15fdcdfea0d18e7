import type { JsonObject } from '#model/definition'
import { invalid } from '#platform/errors'
import type { RunOptions } from './schema.ts'
import type { StartOptions, Target } from './start.ts'

/**
 * Returns the options of a start besides its input. Refuses options that contradict each other or do not apply to this
 * workflow.
 */
export function startOptionsOf(target: Target, options: RunOptions, path = ''): StartOptions {
  const { start_at, delay_s, priority, tags, metadata, concurrency_key } = options
  if (start_at !== undefined && delay_s !== undefined)
    throw invalid([{ path: `${path}/delay_s`, message: 'cannot be combined with start_at' }])
  if (concurrency_key !== undefined && !target.flow?.concurrency)
    throw invalid([
      { path: `${path}/concurrency_key`, message: 'can be used only if the workflow has the concurrency setting' },
    ])
  const hasLabels = priority !== undefined || tags !== undefined || metadata !== undefined
  return {
    ...(start_at !== undefined && { startAt: start_at }),
    ...(delay_s !== undefined && { startInS: delay_s }),
    ...(concurrency_key !== undefined && { concurrencyKey: concurrency_key }),
    ...(hasLabels && {
      labels: { priority, tags: tags && [...new Set(tags)], metadata: metadata as JsonObject | undefined },
    }),
  }
}
