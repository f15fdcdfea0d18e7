import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join, normalize, sep } from 'node:path'
import { newId } from '#platform/ids'
import type { Blobs } from './index.ts'

/**
 * Stores blobs as files. A put is complete or absent: the file is written under a temporary name, flushed, then
 * renamed.
 */
export const makeDiskBlobs = (folder: string): Blobs => {
  const placeOf = (key: string): string => {
    const place = normalize(join(folder, key))
    if (!place.startsWith(normalize(folder) + sep)) throw new Error('a blob key must stay inside its folder')
    return place
  }
  const write = async (key: string, content: Uint8Array | AsyncIterable<Buffer>): Promise<void> => {
    const place = placeOf(key)
    await mkdir(dirname(place), { recursive: true })
    const draft = `${place}.${newId()}`
    try {
      const file = await open(draft, 'w', 0o600)
      try {
        if (content instanceof Uint8Array) await file.writeFile(content)
        else for await (const chunk of content) await file.write(chunk)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, place)
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
  }
  return {
    put: write,
    putStream: write,
    get: async (key) => {
      try {
        return await readFile(placeOf(key))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },
    stream: async (key, part) => {
      try {
        return (await open(placeOf(key))).createReadStream(part && { start: part.from, end: part.to })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },
    remove: async (key) => rm(placeOf(key), { force: true }),
    removeUnder: async (prefix) => rm(placeOf(prefix), { force: true, recursive: true }),
  }
}
