import type { Definition, JsonObject } from '#model/definition'
import { keptVariables, variablesWanted, wantsVariables } from '#model/variables'
import type { EnginePorts } from './ports.ts'

/**
 * The variables a run begins with, journalled with its start. `given`: those of the run that leads to it. Its parent kept all that there
 * were, so what is not among them was added since and is not there for this run either. The run that it retries kept what its own
 * version reads; what another version reads besides is read now. A definition that reads none asks nobody.
 */
export async function variablesAtStart(
  ports: Pick<EnginePorts, 'readVariables'>,
  workspaceId: string,
  definition: Definition,
  given: JsonObject | undefined,
  { isChild }: { isChild: boolean },
): Promise<JsonObject | undefined> {
  if (!wantsVariables(definition)) return undefined
  if (isChild && given) return keptVariables(definition, given)
  const wanted = variablesWanted(definition)
  const names =
    wanted === 'all' ? null : [...wanted].filter((name) => given === undefined || !Object.hasOwn(given, name))
  const read = names?.length === 0 || (names === null && given) ? {} : await ports.readVariables(workspaceId, names)
  return keptVariables(definition, { ...read, ...given })
}
