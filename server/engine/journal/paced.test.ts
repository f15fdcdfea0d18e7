import { expect, test } from 'vitest'
import { makePaced } from './paced.ts'

const endOfTurn = (): Promise<unknown> => new Promise(setImmediate)

/**
 * `given` lists the answers in their order. `clock.now` is in milliseconds. Answers of two workspaces are paced, those of
 * one are not.
 */
function makeCase() {
  const clock = { now: 0 }
  const given: string[] = []
  const paced = makePaced(() => clock.now)
  const answer = (workspaceId: string, name: string | number = '') => ({
    workspaceId,
    give: () => void given.push(`${workspaceId}${name}`),
  })
  const answers = (workspaceId: string, count: number) =>
    Array.from({ length: count }, (_, n) => answer(workspaceId, n))
  const mixed = (count: number) => Array.from({ length: count }, (_, n) => answer(n % 2 ? 'odd' : 'even', n))
  const turnOf = async (ms: number): Promise<void> => {
    clock.now += ms
    await endOfTurn()
  }
  /** Adds this many answers, and returns how many are given in this turn and in each later one. */
  const perTurn = async (count: number, turnMs: number): Promise<number[]> => {
    let before = given.length
    paced.add(mixed(count))
    const counts = [given.length - before]
    while (paced.isGiving()) {
      before = given.length
      await turnOf(turnMs)
      counts.push(given.length - before)
    }
    return counts
  }
  return { paced, given, answer, answers, mixed, turnOf, perTurn }
}

test('a few answers are given at once', () => {
  const { paced, given, mixed } = makeCase()
  paced.add(mixed(16))
  expect(given.length).toBe(16)
  expect(paced.isGiving()).toBe(false)
})

test('while turns are long, each turn gives sixteen answers, in their order', async () => {
  const { given, perTurn } = makeCase()
  expect(await perTurn(40, 4)).toEqual([16, 16, 8])
  expect(given).toEqual(Array.from({ length: 40 }, (_, n) => (n % 2 ? `odd${n}` : `even${n}`)))
})

test('while turns are short, each turn gives four more; after a long turn the number is halved', async () => {
  const { perTurn, turnOf } = makeCase()
  expect(await perTurn(16 + 20 + 24 + 28 + 32 + 36, 3)).toEqual([16, 20, 24, 28, 32, 36])
  await turnOf(3)
  expect(await perTurn(100, 4)).toEqual([40, 20, 16, 16, 8])
})

test('a turn that does not give all that it may does not raise the number', async () => {
  const { given, paced, mixed, perTurn, turnOf } = makeCase()
  for (let n = 0; n < 5; n++) {
    paced.add(mixed(15))
    await turnOf(0)
  }
  expect(given.length).toBe(75)
  expect(await perTurn(17, 0)).toEqual([16, 1])
})

test('answers that are added in the same turn share its limit', async () => {
  const { given, paced, mixed, turnOf } = makeCase()
  paced.add(mixed(10))
  paced.add(mixed(10))
  expect(given.length).toBe(16)
  await turnOf(4)
  expect(given.length).toBe(20)
})

test('each workspace gets its first answer before any workspace gets its second', () => {
  const { given, paced, answer, answers } = makeCase()
  paced.add([...answers('loud', 30), answer('quiet')])
  expect(given.slice(0, 3)).toEqual(['loud0', 'quiet', 'loud1'])
})

test('all remaining answers can be given at once', async () => {
  const { given, paced, mixed, turnOf } = makeCase()
  paced.add(mixed(100))
  paced.flush()
  expect(given.length).toBe(100)
  expect(paced.isGiving()).toBe(false)
  await turnOf(0)
  expect(given.length).toBe(100)
})

test('a workspace that is alone gets all its answers at once', () => {
  const { given, paced, answers } = makeCase()
  for (let n = 0; n < 3; n++) paced.add(answers('a', 100))
  expect(given.length).toBe(300)
})

test('a workspace is alone when no other one had an answer for a second', async () => {
  const { given, paced, answer, answers, turnOf } = makeCase()
  paced.add([answer('b')])
  paced.add([answer('a')])
  given.length = 0

  await turnOf(999)
  paced.add(answers('a', 100))
  expect(given.length).toBe(16)

  await turnOf(1)
  paced.add(answers('a', 100))
  expect(given.length).toBe(200)
  expect(paced.isGiving()).toBe(false)
})

test('another workspace in the same batch or in the next one ends that', async () => {
  for (const next of [['a', 'b'], ['b']]) {
    const { given, paced, answer, answers, turnOf } = makeCase()
    paced.add([answer('a')])
    paced.add(next.map((workspaceId) => answer(workspaceId)))
    given.length = 0

    await turnOf(0)
    paced.add(answers('a', 100))
    expect(given.length).toBe(16)
  }
})
