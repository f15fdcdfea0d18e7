import { z } from 'zod'
import { Problem } from '../errors.ts'
import { type Prefix, UNKNOWN_ID } from '../ids.ts'
import { id, reference } from './schema.ts'

// One verb for several resources at once. Each is done or refused separately, and the response lists the results.

/** Each resource needs a few statements, and all of them run in one transaction. */
export const MAX_AT_ONCE = 100

export const idList = (prefix: Prefix) =>
  z
    .array(reference(prefix).refine((value) => value !== UNKNOWN_ID, `must be an id that starts with ${prefix}_`))
    .min(1)
    .max(MAX_AT_ONCE)

const Refusal = z
  .object({
    code: z.string().describe('The error code, as in the response of the operation for one'),
    detail: z.string().describe('The reason as text'),
  })
  .meta({ id: 'BulkRefusal' })

/** `field` is the name of the id, such as `workflow_id`. */
export const bulkAnswer = <Field extends string>(field: Field, prefix: Prefix) =>
  z.object({
    items: z
      .array(
        z.object({
          [field]: id(prefix),
          done: z.boolean().describe('Whether it was done'),
          problem: Refusal.nullable().describe('Why it was not done'),
        } as Record<Field, ReturnType<typeof id>> & {
          done: z.ZodBoolean
          problem: z.ZodNullable<typeof Refusal>
        }),
      )
      .describe('One result for each id, in the order of the ids'),
  })

export type BulkItem = { done: boolean; problem: { code: string; detail: string } | null }

/**
 * Processes the ids in sorted order, so that two callers with the same ids wait for each other and do not deadlock.
 * `act` must refuse before it writes, because the writes for the other ids remain.
 */
export async function forEachId<Field extends string>(
  field: Field,
  ids: readonly string[],
  act: (id: string) => Promise<unknown>,
): Promise<{ items: (Record<Field, string> & BulkItem)[] }> {
  const items: (Record<Field, string> & BulkItem)[] = []
  for (const one of [...new Set(ids)].sort())
    items.push({ [field]: one, ...(await outcomeOf(() => act(one))) } as Record<Field, string> & BulkItem)
  return { items }
}

/** Returns the counts for the audit log. */
export const countsOf = (items: readonly BulkItem[]): { done: number; refused: number } => {
  const done = items.filter((item) => item.done).length
  return { done, refused: items.length - done }
}

async function outcomeOf(act: () => Promise<unknown>): Promise<BulkItem> {
  try {
    await act()
    return { done: true, problem: null }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { done: false, problem: { code: error.code, detail: error.message } }
  }
}
