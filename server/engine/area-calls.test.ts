import { expect, test } from 'vitest'
import { makeWorkspaceTurns } from '#platform/workspace-turns'
import { areaCallsFor } from './area-calls.ts'

const makeWork = () => {
  const begun: string[] = []
  const finish = new Map<string, (error?: Error) => void>()
  const work = (name: string) => () =>
    new Promise<string>((resolve, reject) => {
      begun.push(name)
      finish.set(name, (error) => (error ? reject(error) : resolve(name)))
    })
  return { begun, work, finish: (name: string, error?: Error) => finish.get(name)?.(error) }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('no more calls than the limit run at once, and workspaces take turns', async () => {
  const call = makeWorkspaceTurns({ atOnce: 3, perWorkspace: 2 })
  const { begun, work, finish } = makeWork()
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => call(name[0]!, work(name)))
  await settled()
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  finish('a1')
  await settled()
  expect(begun.slice(3)).toEqual(['a3'])
  finish('a2')
  await settled()
  expect(begun.slice(4)).toEqual(['b2'])
  for (const name of ['a3', 'b1', 'b2']) finish(name)
  await settled()
  expect(begun.slice(5)).toEqual(['c1', 'a4'])
  for (const name of ['c1', 'a4']) finish(name)
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'])
})

test('a call that fails frees its place for the next call', async () => {
  const call = makeWorkspaceTurns({ atOnce: 1, perWorkspace: 1 })
  const { begun, work, finish } = makeWork()
  const first = call('a', work('a1'))
  const second = call('b', work('b1'))
  await settled()
  finish('a1', new Error('refused'))
  await expect(first).rejects.toThrow('refused')
  await settled()
  expect(begun).toEqual(['a1', 'b1'])
  finish('b1')
  expect(await second).toBe('b1')
})

test('one workspace never uses all connections of the engine', async () => {
  for (const connections of [1, 4, 10, 100]) {
    const call = areaCallsFor(connections)
    const { begun, work, finish } = makeWork()
    const flood = Array.from({ length: connections + 2 }, (_, n) => call('a', work(`a${n}`)))
    const other = call('b', work('b'))
    await settled()
    expect(begun).toContain('b')
    expect(begun.length).toBeLessThan(connections + 2)
    finish('b')
    expect(await other).toBe('b')
    for (let n = 0; n < flood.length; n += 1) {
      finish(`a${n}`)
      await settled()
    }
    expect(await Promise.all(flood)).toHaveLength(connections + 2)
  }
})
