import type { Definition, JsonObject } from '#model/definition'
import { readsVariables, storedVariables, variablesRead } from '#model/variables'
import type { EnginePorts } from './ports.ts'

/**
 * Returns the variables of an execution at its start, which are journalled with the start. `given`: the variables of
 * the execution that leads to it. A parent has kept all variables that existed, so a variable that is not in `given`
 * was added later and is not visible to this execution either. A retried execution has kept only the variables that
 * its version reads; the others that another version reads are read now. A definition without variables needs no
 * read.
 */
export async function variablesAtStart(
  ports: Pick<EnginePorts, 'readVariables'>,
  workspaceId: string,
  definition: Definition,
  given: JsonObject | undefined,
  { isChild }: { isChild: boolean },
): Promise<JsonObject | undefined> {
  if (!readsVariables(definition)) return undefined
  if (isChild && given) return storedVariables(definition, given)
  const wanted = variablesRead(definition)
  const names =
    wanted === 'all' ? null : [...wanted].filter((name) => given === undefined || !Object.hasOwn(given, name))
  const read = names?.length === 0 || (names === null && given) ? {} : await ports.readVariables(workspaceId, names)
  return storedVariables(definition, { ...read, ...given })
}
