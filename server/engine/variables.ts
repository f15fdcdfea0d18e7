import type { Definition, JsonObject } from '#model/definition'
import { keptVariables, variablesWanted, wantsVariables } from '#model/variables'
import type { EnginePorts } from './ports.ts'

/**
 * The variables a run begins with, journalled with its start. `given`: those of the run that leads to it (its parent, or the one it
 * retries); what that one did not keep is read now. A definition that reads none asks nobody.
 */
export async function variablesAtStart(
  ports: Pick<EnginePorts, 'readVariables'>,
  workspaceId: string,
  definition: Definition,
  given: JsonObject | undefined,
): Promise<JsonObject | undefined> {
  if (!wantsVariables(definition)) return undefined
  const wanted = variablesWanted(definition)
  const names =
    wanted === 'all' ? null : [...wanted].filter((name) => given === undefined || !Object.hasOwn(given, name))
  const read = names?.length === 0 || (names === null && given) ? {} : await ports.readVariables(workspaceId, names)
  return keptVariables(definition, { ...read, ...given })
}
