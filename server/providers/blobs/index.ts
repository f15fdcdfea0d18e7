import type { Readable } from 'node:stream'

/** Bytes by key. Keys are ours (never tenant text), `/`-separated; what a key names never changes once put. */
export type Blobs = {
  put(key: string, bytes: Uint8Array): Promise<void>
  /** Undefined where nothing was put, or it was removed. */
  get(key: string): Promise<Buffer | undefined>
  /** Puts what comes, holding no more than a part of it. Whole or absent, as `put`; fails as its source fails. */
  putStream(key: string, chunks: AsyncIterable<Buffer>): Promise<void>
  /** Likewise, piece by piece: for what is passed on and not looked at. `to` is the last byte. */
  stream(key: string, part?: { from: number; to: number }): Promise<Readable | undefined>
  remove(key: string): Promise<void>
  /** Removes every key that starts with `prefix`, which ends in `/`. */
  removeUnder(prefix: string): Promise<void>
}
