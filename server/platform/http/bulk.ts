import { z } from 'zod'
import { Problem } from '../errors.ts'
import { NOWHERE, type Prefix } from '../ids.ts'
import { id, reference } from './schema.ts'

// One verb for several things at once: each is done or refused on its own, and the answer says which.

/** Each is a few statements, and all of them are one transaction. */
export const MAX_AT_ONCE = 100

export const severalIds = (prefix: Prefix) =>
  z
    .array(reference(prefix).refine((value) => value !== NOWHERE, `is not an id that begins with ${prefix}_`))
    .min(1)
    .max(MAX_AT_ONCE)

const Refusal = z
  .object({
    code: z.string().describe('As in a refusal of the operation for one'),
    detail: z.string().describe('The reason in words'),
  })
  .meta({ id: 'BulkRefusal' })

/** `field` names the thing, such as `workflow_id`. */
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
      .describe('One for each id, in the order of the ids'),
  })

export type BulkItem = { done: boolean; problem: { code: string; detail: string } | null }

/**
 * In the order of the ids: two callers with the same ones wait for each other and do not deadlock. `act` must refuse before it
 * writes, because the others' writes stay.
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

/** For the audit log. */
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
