import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

const workspaceId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Deletes the databases of deleted workspaces. Files that are not named like a workspace belong to something else and
 * remain.
 */
export async function sweepDuckdbFiles(
  directory: string,
  existing: (workspaceIds: string[]) => Promise<string[]>,
): Promise<void> {
  const found = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const ids = found.filter((name) => workspaceId.test(name))
  if (ids.length === 0) return
  const kept = new Set(await existing(ids))
  for (const id of ids) if (!kept.has(id)) await rm(join(directory, id), { recursive: true, force: true })
}
