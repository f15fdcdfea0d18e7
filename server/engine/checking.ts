import type { Json } from '#model/definition'
import type { Issue } from '#model/issue'
import { validateJson } from '#model/json-schema'
import { jsonSize } from '#model/size'
import type { Turns } from './worker/turns.ts'

/** Sizes of schema and value multiplied: below that a check takes a millisecond or two. */
const LIGHT_CHECK = 4_000_000

export const isHeavyCheck = (schema: Json, value: Json): boolean =>
  jsonSize(schema, LIGHT_CHECK) * jsonSize(value, LIGHT_CHECK) > LIGHT_CHECK

/**
 * What is wrong with a value that came with a request, by a schema of the tenant. A heavy check waits for its workspace's turn:
 * it holds the thread for up to 90 ms, and a flood of them leaves the others room in between.
 */
export async function validateInTurn(
  turns: Pick<Turns, 'next'>,
  workspaceId: string,
  schema: Json,
  value: Json,
): Promise<Issue[]> {
  if (isHeavyCheck(schema, value)) await turns.next(workspaceId)
  return validateJson(schema, value)
}
