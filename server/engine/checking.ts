import type { Json } from '#model/definition'
import type { Issue } from '#model/issue'
import { validateJson } from '#model/json-schema'
import { jsonSize } from '#model/size'
import type { Turns } from './worker/turns.ts'

/** The limit of schema size × value size. Below it, a check takes a millisecond or two. */
const LIGHT_CHECK = 4_000_000

export const isHeavyCheck = (schema: Json, value: Json): boolean =>
  jsonSize(schema, LIGHT_CHECK) * jsonSize(value, LIGHT_CHECK) > LIGHT_CHECK

/**
 * Returns the problems of a value of a request against a schema of the tenant. A heavy check blocks the thread for up
 * to 90 ms, so it waits for the turn of its workspace. A flood of heavy checks then leaves time for other work.
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
