import { respond, takeAction } from './take-action.ts'
import { takeFirst, takeMessage } from './take-message.ts'
import type { TurnDependencies } from './turn-frame.ts'
import type { FirstMessage, FormAction, Incoming, Respond } from './types.ts'

// One turn: a message and its answer. Both are stored in one transaction that locks the thread. Turns happen one after
// the other, and a killed server leaves either a whole turn or nothing.

export const makeTurns = (deps: TurnDependencies) => ({
  takeMessage: (incoming: Incoming) => takeMessage(deps, incoming),
  takeFirst: (first: FirstMessage) => takeFirst(deps, first),
  takeAction: (action: FormAction) => takeAction(deps, action),
  respond: (given: Respond) => respond(deps, given),
})
