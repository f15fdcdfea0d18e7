import { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { makePauses } from './pauses.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const resumed = (sockets: Socket[]): number => sockets.filter((socket) => !socket.isPaused()).length

test('connections that are due at the same time are resumed in small groups, in the order they were paused', () => {
  const { pause } = makePauses()
  const sockets = Array.from({ length: 10 }, () => new Socket())
  for (const socket of sockets) pause(socket, 1)
  vi.advanceTimersByTime(1_000)
  expect(resumed(sockets)).toBe(0)
  vi.advanceTimersByTime(4)
  expect(resumed(sockets)).toBe(4)
  expect(resumed(sockets.slice(0, 4))).toBe(4)
  vi.advanceTimersByTime(4)
  expect(resumed(sockets)).toBe(8)
  vi.advanceTimersByTime(4)
  expect(resumed(sockets)).toBe(10)
  expect(vi.getTimerCount()).toBe(0)
})
