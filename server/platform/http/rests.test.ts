import { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { makeRests } from './rests.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const heard = (sockets: Socket[]): number => sockets.filter((socket) => !socket.isPaused()).length

test('connections whose time is over at once are heard again by and by, in the order in which they began to rest', () => {
  const { rest } = makeRests()
  const sockets = Array.from({ length: 10 }, () => new Socket())
  for (const socket of sockets) rest(socket, 1)
  vi.advanceTimersByTime(1_000)
  expect(heard(sockets)).toBe(0)
  vi.advanceTimersByTime(4)
  expect(heard(sockets)).toBe(4)
  expect(heard(sockets.slice(0, 4))).toBe(4)
  vi.advanceTimersByTime(4)
  expect(heard(sockets)).toBe(8)
  vi.advanceTimersByTime(4)
  expect(heard(sockets)).toBe(10)
  expect(vi.getTimerCount()).toBe(0)
})
