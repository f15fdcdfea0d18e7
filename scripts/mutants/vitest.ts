import { expect } from 'vitest'

// Replaces `vitest` in test files that the mutation run loads: only collects the tests, so that they can run repeatedly
// in one thread. Supports only what the tests of pure functions use.

export { expect }

type Body = (...values: unknown[]) => unknown
export type CollectedTest = { name: string; run: () => unknown }

let collected: CollectedTest[] = []
const groups: string[] = []

/** Returns the tests that were registered since the last call. */
export function takeTests(): CollectedTest[] {
  const tests = collected
  collected = []
  return tests
}

const valuesOf = (row: unknown): unknown[] => (Array.isArray(row) ? row : [row])

const each =
  (register: (name: string, body: () => unknown) => void) =>
  (rows: readonly unknown[]) =>
  (name: string, body: Body): void => {
    for (const [index, row] of rows.entries()) register(`${name} (${index + 1})`, () => body(...valuesOf(row)))
  }

function register(name: string, body: () => unknown): void {
  collected.push({ name: [...groups, name].join(' > '), run: body })
}

function group(name: string, body: () => unknown): void {
  groups.push(name)
  try {
    body()
  } finally {
    groups.pop()
  }
}

const makeTest = () => Object.assign(register.bind(null), { each: each(register) })

export const test = makeTest()
export const it = makeTest()
export const describe = Object.assign(group, { each: each(group) })
