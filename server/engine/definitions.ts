import type { Definition } from '#model/definition'
import { makeLru } from '#model/lru'
import type { EnginePorts } from './ports.ts'

export type LoadDefinition = (workspaceId: string, ref: string) => Promise<Definition>

/**
 * Caches the definitions that executions of this process use. A cached definition stays valid: a reference always
 * names the same one.
 */
export const makeDefinitions = (ports: Pick<EnginePorts, 'loadDefinition'>): LoadDefinition => {
  const known = makeLru<Promise<Definition>>(1_000)
  return (workspaceId, ref) => {
    const key = `${workspaceId} ${ref}`
    const found = known.get(key)
    if (found) return found
    // Executions that need the definition at the same time load it once.
    const loading = ports.loadDefinition(workspaceId, ref)
    known.set(key, loading)
    loading.catch(() => known.remove(key))
    return loading
  }
}
