import type { Json, JsonObject } from '#model/definition'
import { canonicalRecord } from '../records/canonical.ts'
import { MAX_RECORD_BYTES } from '../records/limits.ts'
import type { Packer } from '../records/packer.ts'
import type { Profiler } from '../records/profile.ts'
import { located, type RecordsRefused, refuse } from '../records/refused.ts'
import { type Cut, isSpace, makeCutter } from './cutter.ts'

export type Sink = { packer: Packer; profiler: Profiler }

/** The maximum size of all fields of a body except its records. */
const MAX_FIELD_BYTES = 1 << 20

/** Checks and packs one value of the list of records. */
function addRecord(sink: Sink, cut: Cut, line: number): void {
  const at = { record: sink.packer.count(), line }
  const { text, keys } = located(at, () => canonicalRecord(cut.value))
  if (keys !== cut.colons) throw refuse('record', 'has a duplicate key', at)
  sink.profiler.add(cut.value as JsonObject)
  sink.packer.add(text)
}

type State =
  | 'value'
  | 'first_element'
  | 'element'
  | 'after_element'
  | 'first_key'
  | 'key'
  | 'colon'
  | 'after_field'
  | 'end'

export type BodyRead = { fields: JsonObject; hasRecords: boolean }

/**
 * Reads either an array of records (a file) or the body of a dataset, `{"name": …, "records": [ … ]}`, in one pass
 * over blocks of bytes. Only one record or one field is in memory at a time.
 */
export function makeJsonReader(of: 'array' | 'body', sink: Sink) {
  const fields: Record<string, Json> = {}
  let state: State = 'value'
  let line = 1
  let lineOfValue = 1
  let field = ''
  let hasRecords = false
  let fieldBytes = 0
  let opened = false
  let cutting = false
  const cutter = makeCutter(MAX_RECORD_BYTES)

  const syntax = (message: string): RecordsRefused => refuse('syntax', message, { line })
  const here = (): { record?: number; line: number } =>
    state === 'element' || state === 'first_element'
      ? { record: sink.packer.count(), line: lineOfValue }
      : { line: lineOfValue }

  const take = (cut: Cut): void => {
    line += cut.lines
    if (state === 'element' || state === 'first_element') {
      addRecord(sink, cut, lineOfValue)
      state = 'after_element'
      return
    }
    if (state === 'key' || state === 'first_key') {
      if (typeof cut.value !== 'string') throw syntax('a key must be a string')
      field = cut.value
      if (field === '__proto__' || Object.hasOwn(fields, field) || (field === 'records' && hasRecords))
        throw syntax(`the key ${JSON.stringify(field.slice(0, 100))} is not allowed here, or is a duplicate`)
      state = 'colon'
      return
    }
    fieldBytes += cut.bytes
    if (fieldBytes > MAX_FIELD_BYTES) throw refuse('large', 'The fields other than the records are too large.')
    fields[field] = cut.value
    state = 'after_field'
  }

  /** Handles one structural byte outside of values. Returns true if a value starts here. */
  const step = (byte: number): boolean => {
    switch (state) {
      case 'value':
        if (of === 'array') {
          if (byte !== 0x5b) throw syntax('the file must be an array of objects')
          state = 'first_element'
          return false
        }
        if (!opened) {
          if (byte !== 0x7b) throw syntax('the body must be an object')
          opened = true
          state = 'first_key'
          return false
        }
        if (field === 'records' && byte === 0x5b) {
          hasRecords = true
          state = 'first_element'
          return false
        }
        return true
      case 'first_element':
        if (byte !== 0x5d) return true
        state = of === 'array' ? 'end' : 'after_field'
        return false
      case 'element':
        return true
      case 'after_element':
        if (byte === 0x2c) state = 'element'
        else if (byte === 0x5d) state = of === 'array' ? 'end' : 'after_field'
        else throw syntax('a comma or ] is missing between two records')
        return false
      case 'first_key':
        if (byte === 0x7d) {
          state = 'end'
          return false
        }
        return true
      case 'key':
        return true
      case 'colon':
        if (byte !== 0x3a) throw syntax('a colon is missing')
        state = 'value'
        return false
      case 'after_field':
        if (byte === 0x2c) state = 'key'
        else if (byte === 0x7d) state = 'end'
        else throw syntax('a comma or } is missing')
        return false
      case 'end':
        throw syntax('there is text after the end of the JSON')
    }
  }

  return {
    push(block: Buffer): void {
      let at = 0
      while (at < block.length) {
        if (cutting) {
          const from = at
          const done = located(here(), () => cutter.feed(block, from))
          if (done === undefined) return
          cutting = false
          at = done.end
          take(done.cut)
          continue
        }
        const byte = block[at]!
        if (isSpace(byte)) {
          if (byte === 0x0a) line += 1
          at += 1
          continue
        }
        if (step(byte)) {
          cutting = true
          lineOfValue = line
          if ((state === 'element' || state === 'first_element') && byte !== 0x7b) {
            const shown = { 91: 'an array', 34: 'a string' }[byte] ?? 'not an object'
            throw refuse('record', shown === 'not an object' ? `is ${shown}` : `is ${shown}, not an object`, here())
          }
        } else at += 1
      }
    },
    end(): BodyRead {
      const empty = of === 'body' && !opened
      if (!empty && state !== 'end') throw syntax('the JSON is incomplete')
      return { fields, hasRecords }
    },
  }
}

const NEWLINE = 0x0a

/** Reads JSON Lines: one record per line. Blank lines are skipped. */
export function makeLinesReader(sink: Sink) {
  let rest: Buffer[] = []
  let restBytes = 0
  let line = 0

  const readLine = (bytes: Buffer): void => {
    line += 1
    const at = { record: sink.packer.count(), line }
    const trimmed = trim(bytes)
    if (trimmed.length === 0) return
    located(at, () => {
      if (trimmed[0] !== 0x7b) throw refuse('record', 'is not an object')
      const cutter = makeCutter(MAX_RECORD_BYTES)
      const done = cutter.feed(trimmed, 0)
      if (done === undefined) throw refuse('syntax', 'is not JSON: it is incomplete; each record must be on one line')
      if (done.end !== trimmed.length) throw refuse('syntax', 'is not JSON: there is text after the object')
      addRecord(sink, done.cut, line)
    })
  }

  return {
    push(block: Buffer): void {
      let from = 0
      for (;;) {
        const end = block.indexOf(NEWLINE, from)
        const part = block.subarray(from, end === -1 ? block.length : end)
        if (restBytes + part.length > MAX_RECORD_BYTES)
          throw refuse('large', `is larger than ${MAX_RECORD_BYTES >> 20} MiB`, {
            record: sink.packer.count(),
            line: line + 1,
          })
        if (end === -1) {
          rest.push(part)
          restBytes += part.length
          return
        }
        readLine(rest.length === 0 ? part : Buffer.concat([...rest, part]))
        rest = []
        restBytes = 0
        from = end + 1
      }
    },
    end(): void {
      if (restBytes > 0) readLine(Buffer.concat(rest))
    },
  }
}

function trim(bytes: Buffer): Buffer {
  let from = 0
  let to = bytes.length
  while (from < to && isSpace(bytes[from]!)) from += 1
  while (to > from && isSpace(bytes[to - 1]!)) to -= 1
  return bytes.subarray(from, to)
}
