import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The directories that this process created. */
export const temporaryDirectories = new Set<string>()

export async function makeTemporaryDirectory(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'heddle-test-'))
  temporaryDirectories.add(path)
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true })
      temporaryDirectories.delete(path)
    },
  }
}
