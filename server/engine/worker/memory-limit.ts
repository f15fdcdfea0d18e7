import { problem } from '#platform/errors'
import type { GraphState } from '../interpreter/state.ts'

// Limits the values that parked executions load from the blob store when they continue: up to 64 MiB each. A hundred
// executions that are woken by one event would take six gigabytes. Those that find no room wait, and are claimed
// again.

const MIB = 1024 * 1024
const MAX_LOADED = 192 * MIB
const MAX_LOADED_OF_WORKSPACE = 96 * MIB
/** Always allowed to a workspace that has loaded nothing, so that other workspaces cannot block it. */
const ALWAYS_ALLOWED = 8 * MIB

export type LoadedBytes = { workspaceId: string; bytes: number }

/** Returns the number of bytes that are in the blob store and not in memory. */
export const bytesToLoad = ({ nodes }: GraphState): number => {
  const blobs = new Map<string, number>()
  for (const { blob, output } of Object.values(nodes)) if (blob && output === undefined) blobs.set(blob.key, blob.bytes)
  let bytes = 0
  for (const one of blobs.values()) bytes += one
  return bytes
}

/** `loaded`: what executions have already loaded. Throws if there is no room for more. */
export function requireMemory(loaded: Iterable<LoadedBytes>, wanted: LoadedBytes): void {
  if (wanted.bytes === 0) return
  let all = wanted.bytes
  let own = wanted.bytes
  for (const { workspaceId, bytes } of loaded) {
    all += bytes
    if (workspaceId === wanted.workspaceId) own += bytes
  }
  const isFirst = own === wanted.bytes
  if (isFirst && (all <= MAX_LOADED || own <= ALWAYS_ALLOWED)) return
  if (own <= MAX_LOADED_OF_WORKSPACE && all <= MAX_LOADED) return
  throw problem('overloaded', 'Other executions use the memory that this one needs.')
}
