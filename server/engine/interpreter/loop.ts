import type { LoopArgs } from './commands.ts'

/**
 * Decides what follows after `turns` iterations. `while` is evaluated before every iteration, `until` after every
 * iteration. A loop that would continue after its last allowed iteration has reached its limit.
 */
export const decideTurn = (
  { while: whileCel, until, maxIterations }: Pick<LoopArgs, 'while' | 'until' | 'maxIterations'>,
  turns: number,
  holds: (cel: string) => boolean,
): 'begin' | 'end' | 'limit' => {
  if (whileCel !== undefined && !holds(whileCel)) return 'end'
  if (until !== undefined && turns > 0 && holds(until)) return 'end'
  return turns < maxIterations ? 'begin' : 'limit'
}
