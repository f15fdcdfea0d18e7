import type { Json, JsonObject } from '#model/definition'
import { isObject, own } from '#model/json'
import { type NodeCall, NodeFailure } from './node.ts'

// Files are values: `{"$file": {file_id, name, media_type, bytes, sha256}}`. The value names the file. Whether an
// execution may read the file is checked each time, so knowing a file id is not enough to read the file.

export type FileFacts = { file_id: string; name: string; media_type: string; bytes: number; sha256: string }
export type FileValue = { $file: FileFacts }

export const isFileValue = (value: Json | undefined): value is FileValue & JsonObject =>
  isObject(value) && Object.keys(value).length === 1 && typeof fileIdOf(value) === 'string'

const fileIdOf = (value: JsonObject): Json | undefined => {
  const events = own(value, '$file')
  return isObject(events) ? own(events, 'file_id') : undefined
}

/** Yields every file that a value names, at any depth. */
export function* filesIn(value: Json | undefined): Generator<FileValue> {
  if (typeof value !== 'object' || value === null) return
  if (isFileValue(value)) yield value
  else for (const inner of Array.isArray(value) ? value : Object.values(value)) yield* filesIn(inner)
}

export type OpenFile = FileFacts & {
  /** Returns the bytes, from the beginning on each call. */
  chunks(): AsyncIterable<Buffer>
}

type Run = Pick<NodeCall, 'workspaceId' | 'executionId'>

/** The file operations that nodes need. */
export type Files = {
  maxBytes: number
  /** Throws NodeFailure `file_unavailable` if the execution has no such file. */
  open(run: Run, value: Json | undefined): Promise<OpenFile>
  /**
   * Saves the chunks as a file of the execution. The same key names the same file, so a repeated attempt replaces the
   * file of the attempt before. Throws NodeFailure `file_too_large` or `quota_exceeded`.
   */
  save(
    run: Run,
    file: { key: string; name: string; media_type: string },
    chunks: AsyncIterable<Buffer>,
  ): Promise<FileValue>
}

export const fileSchema: JsonObject = {
  type: 'object',
  title: 'File',
  description: 'A file from a node, a webhook or an upload',
  properties: { $file: { type: 'object', properties: { file_id: { type: 'string' } }, required: ['file_id'] } },
  required: ['$file'],
  additionalProperties: false,
}

export const unavailable = (): NodeFailure =>
  new NodeFailure('file_unavailable', 'the file does not exist, or does not belong to this run', { retryable: false })

/** Reads a whole file into memory. Throws if the file has more than `maxBytes` bytes. */
export async function readWhole(file: OpenFile, maxBytes: number): Promise<Buffer> {
  if (file.bytes > maxBytes) {
    throw new NodeFailure('file_too_large', `the file has ${file.bytes} bytes; at most ${maxBytes} can be read here`, {
      retryable: false,
    })
  }
  const chunks: Buffer[] = []
  for await (const chunk of file.chunks()) chunks.push(chunk)
  return Buffer.concat(chunks)
}
