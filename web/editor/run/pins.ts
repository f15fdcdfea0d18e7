import { isObject } from '#model/json'
import { type Effects, effectModes } from '#model/node-access'

// Outputs that a user has pinned to steps of a draft, and how effects are treated; stored on this device.

export type Pins = Readonly<Record<string, unknown>>

const pinsKey = (workflowId: string): string => `heddle.pins.${workflowId}`
const EFFECTS_KEY = 'heddle.effects'

const read = (key: string): unknown => {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null')
  } catch {
    return null
  }
}

const write = (key: string, value: unknown): void => {
  try {
    localStorage.setItem(key, JSON.stringify(value))
  } catch {
    // The pins then last only while the page is open.
  }
}

export const readPins = (workflowId: string): Pins => {
  const stored = read(pinsKey(workflowId))
  return isObject(stored) ? stored : {}
}

export const keepPins = (workflowId: string, pins: Pins): void => write(pinsKey(workflowId), pins)

export const readEffects = (): Effects => effectModes.find((mode) => mode === read(EFFECTS_KEY)) ?? 'live'

export const keepEffects = (effects: Effects): void => write(EFFECTS_KEY, effects)

/** Returns the pins of steps that the draft still has. */
export const pinsFor = (pins: Pins, nodes: readonly { id: string }[]): Record<string, unknown> => {
  const ids = new Set(nodes.map(({ id }) => id))
  return Object.fromEntries(Object.entries(pins).filter(([id]) => ids.has(id)))
}
