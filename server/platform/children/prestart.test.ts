import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { prestart } from './prestart.ts'

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
  return { children, ahead: prestart(start, { keepMs: 60_000, afterMs: 100 }) }
}

test('the second caller gets the child that was started ahead', () => {
  const { children, ahead } = make()
  expect(ahead.start().number).toBe(1)
  expect(children).toHaveLength(1)
  vi.advanceTimersByTime(100)
  expect(children).toHaveLength(2)
  expect(ahead.start().number).toBe(2)
  // Two callers at the same moment get two different children.
  expect(ahead.start().number).toBe(3)
})

test('a child that died while it was waiting is not handed out', () => {
  const { children, ahead } = make()
  ahead.start()
  vi.advanceTimersByTime(100)
  children[1]!.end()
  expect(ahead.start().number).toBe(3)
})

test('the waiting child ends if no caller comes for a while, and another starts after the next caller', () => {
  const { children, ahead } = make()
  ahead.start()
  vi.advanceTimersByTime(60_100)
  expect(children.map(({ usable }) => usable)).toEqual([true, false])
  ahead.start()
  vi.advanceTimersByTime(100)
  expect(children.map(({ usable }) => usable)).toEqual([true, false, true, true])
})

test('a child that cannot be started ahead fails no caller', () => {
  let isFailing = false
  const ahead = prestart(
    () => {
      if (isFailing) throw new Error('too many open files')
      return { usable: true, end() {} }
    },
    { keepMs: 60_000, afterMs: 100 },
  )
  ahead.start()
  isFailing = true
  vi.advanceTimersByTime(100)
  isFailing = false
  expect(ahead.start().usable).toBe(true)
})

test('closing ends the waiting child, and no child starts afterwards', () => {
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
