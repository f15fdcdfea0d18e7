import type { Self, Work } from './live-types.ts'

export const newWork = (self: Self): Work => ({
  at: self.now(),
  events: [],
  items: new Map(),
  commands: [],
  done: [],
  unfinished: new Set(),
  large: [],
  begun: 0,
})
