import type { WaitRequest } from '#engine/ports'
import type { Tx } from '#platform/db/pool'
import type { GateDependencies } from './gate-dependencies.ts'
import { gateDue } from './gate-due.ts'
import { type Edit, editCall } from './gate-editing.ts'
import { notifyVoters } from './gate-notices.ts'
import { openGate } from './gate-opening.ts'
import { cancelOpen, recheckedGates, settle } from './gate-resolving.ts'
import { recheckedQuestions } from './question-notices.ts'
import { recheckWorkspace } from './recheck.ts'
import type { Gate } from './store.ts'

// The lifecycle of a gate. A gate opens when an execution reaches an approval node, and is closed by votes, by its due
// time or with the execution.

export const makeGates = (deps: GateDependencies) => ({
  openGate: (wait: WaitRequest) => openGate(deps, wait),
  gateDue: (wait: Parameters<typeof gateDue>[1]) => gateDue(deps, wait),
  editCall: (tx: Tx, gate: Gate, edit: Edit) => editCall(deps, tx, gate, edit),
  settle: (tx: Tx, gate: Gate, noticeOwn: () => Promise<void>) => settle(deps, tx, gate, noticeOwn),
  /** Looks again at the open gates and questions of the workspace after people have left or joined. */
  recheckWorkspace: (workspaceId: string) =>
    recheckWorkspace(deps.db, workspaceId, [recheckedGates(deps), recheckedQuestions]),
  cancelOpen,
  tellVoters: notifyVoters,
})

export type Gates = ReturnType<typeof makeGates>
