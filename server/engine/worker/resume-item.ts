import type { Resumed } from '../interpreter/again.ts'
import type { Frame } from './frame.ts'
import type { Live, Work } from './live-types.ts'
import { outcomeUnknown } from './signals.ts'

/** A map or loop that reads its frames back: messages wait until it has. */
export const isBodyAgain = (command: Resumed): boolean =>
  (command.do === 'map' || command.do === 'loop') && command.again === true

/** Goes on with an item or turn that was read back: what was under way is done again, except what may happen at most once. */
export const resumeItem = (live: Live, work: Work, item: Frame, resumed: readonly Resumed[]): void => {
  for (const again of resumed) {
    const interrupted =
      again.do === 'run' &&
      item.context.effectOf(again.type, again.args) === 'at_most_once' &&
      !live.wasNotBegun({ nodePath: item.prefix + again.node, attempt: again.attempt })
    if (again.do === 'tell') live.step(work, item, [again.happening])
    else if (interrupted) live.step(work, item, [outcomeUnknown(again)])
    else work.commands.push({ frame: item, command: again })
    if (isBodyAgain(again)) live.restoring(1)
  }
  live.step(work, item, [{ kind: 'time' }])
}
