import type { ResumedCommand } from '../interpreter/resume-command.ts'
import type { Frame } from './frame.ts'
import type { Live, Work } from './live-types.ts'
import { outcomeUnknown } from './signals.ts'

/** Checks whether the command is a map or loop that reads its frames back. Messages wait until it has. */
export const isBodyAgain = (command: ResumedCommand): boolean =>
  (command.do === 'map' || command.do === 'loop') && command.again === true

/** Continues an item or iteration that was read back: running nodes are run again, except `at_most_once` nodes. */
export const resumeItem = (live: Live, work: Work, item: Frame, resumed: readonly ResumedCommand[]): void => {
  for (const again of resumed) {
    const interrupted =
      again.do === 'run' &&
      item.context.effectOf(again.type, again.args) === 'at_most_once' &&
      !live.wasNotStarted({ nodePath: item.prefix + again.node, attempt: again.attempt })
    if (again.do === 'tell') live.step(work, item, [again.message])
    else if (interrupted) live.step(work, item, [outcomeUnknown(again)])
    else work.commands.push({ frame: item, command: again })
    if (isBodyAgain(again)) live.restoring(1)
  }
  live.step(work, item, [])
}
