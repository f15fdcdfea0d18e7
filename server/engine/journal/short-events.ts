import type { JsonObject } from '#model/definition'
import type { JournalEvent } from '../interpreter/state.ts'

// The most frequent events have one of these shapes. A packed row contains their code and the values of their keys
// instead of their type and data. The number of the first attempt is not repeated; later attempts are written in full.
// The function `unpacked` (migration 1600) reads them.

type Shape = { code: string; keys: readonly string[] }

const SHAPES = new Map<JournalEvent['type'], Shape>([
  ['node.started', { code: 'b', keys: ['node_id', 'attempt'] }],
  ['node.succeeded', { code: 's', keys: ['node_id', 'attempt', 'output'] }],
  ['node.skipped', { code: 'k', keys: ['node_id'] }],
  ['execution.started', { code: 't', keys: ['trigger'] }],
  ['execution.succeeded', { code: 'e', keys: ['results'] }],
])

const hasShape = (data: JsonObject, { keys }: Shape): boolean => {
  let at = 0
  for (const key in data) {
    if (key !== keys[at] || data[key] === undefined) return false
    if (key === 'attempt' && data.attempt !== 1) return false
    at += 1
  }
  return at === keys.length
}

/** The data of an event as JSON, and the short form of an event that has one. */
export type EventText = { data: string; short?: { code: string; values: string } }

export const textOf = ({ type, data }: Pick<JournalEvent, 'type' | 'data'>): EventText => {
  const shape = SHAPES.get(type)
  if (!shape || !hasShape(data, shape)) return { data: JSON.stringify(data) }
  let values = ''
  let whole = ''
  for (const key of shape.keys) {
    const value = JSON.stringify(data[key])
    if (key !== 'attempt') values += `,${value}`
    whole += `${whole === '' ? '{' : ','}"${key}":${value}`
  }
  return { data: `${whole}}`, short: { code: shape.code, values } }
}

/** Returns one entry of a packed row. */
export const packedText = (type: string, afterMs: number, { data, short }: EventText): string =>
  short ? `["${short.code}",${afterMs}${short.values}]` : `["${type}",${afterMs},${data}]`
