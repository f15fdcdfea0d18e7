import { expect, test } from 'vitest'
import { decideTurn } from './loop.ts'

const holds = (cel: string): boolean => cel === 'true'

test.each([
  ['while true, before the first turn', { while: 'true', maxIterations: 3 }, 0, 'begin'],
  ['while false, before the first turn', { while: 'false', maxIterations: 3 }, 0, 'end'],
  ['while true, after some turns', { while: 'true', maxIterations: 3 }, 2, 'begin'],
  ['while true, after the last turn', { while: 'true', maxIterations: 3 }, 3, 'limit'],
  ['while false, after the last turn', { while: 'false', maxIterations: 3 }, 3, 'end'],
  ['until true, before the first turn', { until: 'true', maxIterations: 3 }, 0, 'begin'],
  ['until true, after a turn', { until: 'true', maxIterations: 3 }, 1, 'end'],
  ['until false, after a turn', { until: 'false', maxIterations: 3 }, 1, 'begin'],
  ['until false, after the last turn', { until: 'false', maxIterations: 3 }, 3, 'limit'],
  ['until true, after the last turn', { until: 'true', maxIterations: 3 }, 3, 'end'],
  ['until true, after the only allowed turn', { until: 'true', maxIterations: 1 }, 1, 'end'],
])('%s', (_case, args, turns, expected) => {
  expect(decideTurn(args, turns, holds)).toBe(expected)
})

test('an expression that fails throws instead of deciding', () => {
  const fails = (): boolean => {
    throw new Error('no')
  }
  expect(() => decideTurn({ while: 'x', maxIterations: 1 }, 0, fails)).toThrow('no')
  expect(() => decideTurn({ until: 'x', maxIterations: 1 }, 1, fails)).toThrow('no')
  expect(decideTurn({ until: 'x', maxIterations: 1 }, 0, fails)).toBe('begin')
})
