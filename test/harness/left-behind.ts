import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, vi } from 'vitest'
import { temporaryDirectories } from './temporary.ts'

// A process runs several test files, one after another. A file fails if it changes the process for the next file.
// Servers, processes and directories that it leaves open are only reported: they cost memory and time, but do not
// affect other files.

const WITHIN = 5_000
/** Listening servers and child processes. */
const KINDS = ['TCPServerWrap', 'PipeServerWrap', 'ProcessWrap']
const GLOBALS = ['fetch', 'Date', 'setTimeout', 'setInterval', 'performance', 'WebSocket', 'crypto', 'console'] as const

const count = (): Map<string, number> => {
  const open = process.getActiveResourcesInfo()
  return new Map(KINDS.map((kind) => [kind, open.filter((name) => name === kind).length]))
}

const before = {
  environment: { ...process.env },
  globals: GLOBALS.map((name) => globalThis[name]),
  open: count(),
  directories: new Set(temporaryDirectories),
}

afterAll(async () => {
  const end = performance.now() + WITHIN
  // A process that was signalled needs a moment to end.
  while (stillOpen().length > 0 && performance.now() < end) await delay(20)
  for (const what of stillOpen()) console.warn(`this file leaves open: ${what}`)
  if (changed().length > 0) throw new Error(`this file leaves behind: ${changed().join(', ')}`)
})

const stillOpen = (): string[] => [
  ...[...count()].flatMap(([kind, now]) => {
    const more = now - before.open.get(kind)!
    return more > 0 ? [`${more} ${kind}`] : []
  }),
  ...[...temporaryDirectories].filter((path) => !before.directories.has(path) && existsSync(path)),
]

function changed(): string[] {
  const names = new Set([...Object.keys(before.environment), ...Object.keys(process.env)])
  return [
    ...(vi.isFakeTimers() ? ['fake timers'] : []),
    ...GLOBALS.filter((name, at) => globalThis[name] !== before.globals[at]),
    ...[...names].filter((name) => process.env[name] !== before.environment[name]).map((name) => `process.env.${name}`),
  ]
}
