import type { LoopArgs } from './commands.ts'

/**
 * What follows when `turns` are over. `while` is looked at before every turn, `until` after every turn. A loop that wants to go
 * on after its last allowed turn has reached its limit.
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
