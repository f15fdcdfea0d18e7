import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startAhead } from './ahead.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

type Child = { number: number; usable: boolean; end(): void }
function make() {
  const children: Child[] = []
  const start = (): Child => {
    const child: Child = {
      number: children.length + 1,
      usable: true,
      end() {
        child.usable = false
      },
    }
    children.push(child)
    return child
  }
  return { children, ahead: startAhead(start, { keepMs: 60_000, afterMs: 100 }) }
}

test('the second to ask gets the one that was started ahead', () => {
  const { children, ahead } = make()
  expect(ahead.start().number).toBe(1)
  expect(children).toHaveLength(1)
  vi.advanceTimersByTime(100)
  expect(children).toHaveLength(2)
  expect(ahead.start().number).toBe(2)
  // Two who ask in the same moment get two.
  expect(ahead.start().number).toBe(3)
})

test('one that died meanwhile is not given out', () => {
  const { children, ahead } = make()
  ahead.start()
  vi.advanceTimersByTime(100)
  children[1]!.end()
  expect(ahead.start().number).toBe(3)
})

test('it is ended where nobody asks for a while, and started again after the next', () => {
  const { children, ahead } = make()
  ahead.start()
  vi.advanceTimersByTime(60_100)
  expect(children.map(({ usable }) => usable)).toEqual([true, false])
  ahead.start()
  vi.advanceTimersByTime(100)
  expect(children.map(({ usable }) => usable)).toEqual([true, false, true, true])
})

test('nothing is left and nothing is started after the end', () => {
  const { children, ahead } = make()
  ahead.start()
  vi.advanceTimersByTime(100)
  ahead.close()
  expect(children[1]!.usable).toBe(false)
  const late = make()
  late.ahead.start()
  late.ahead.close()
  vi.advanceTimersByTime(1_000)
  expect(late.children).toHaveLength(1)
})
