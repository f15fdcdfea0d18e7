import type { Readable } from 'node:stream'

/**
 * Stores bytes by key. Keys are `/`-separated and created by Heddle, never from tenant text. A stored blob never
 * changes.
 */
export type Blobs = {
  put(key: string, bytes: Uint8Array): Promise<void>
  /** Returns undefined if the key was never stored or was removed. */
  get(key: string): Promise<Buffer | undefined>
  /**
   * Stores a stream and holds at most one part in memory. Complete or absent, like `put`; fails if its source fails.
   */
  putStream(key: string, chunks: AsyncIterable<Buffer>): Promise<void>
  /** Like `get`, but as a stream, for content that is passed on unread. `to` is the last byte, inclusive. */
  stream(key: string, part?: { from: number; to: number }): Promise<Readable | undefined>
  remove(key: string): Promise<void>
  /** Removes every key that starts with `prefix`, which ends in `/`. */
  removeUnder(prefix: string): Promise<void>
}
