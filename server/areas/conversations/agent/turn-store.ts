import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import type { Author, Origin } from '../types.ts'

// The messages that an assistant answers, and the steps of each answer. A step is written once, by the process that
// holds the turn.

/** The lease of a turn in seconds. A killed process blocks a turn no longer than this. */
export const LEASE_S = 10

/** `watched` is true if a client receives the answer while it is written. */
export type Asked = { author: Author; origin: Origin; time_zone: string | null; watched?: boolean }

export type AgentTurn = {
  workspace_id: string
  turn_id: string
  thread_id: string
  seq: number
  turn: number
  status: 'open' | 'done'
  asked: Asked
  attempts: number
}

const columns = 'workspace_id, turn_id, thread_id, seq, turn, status, asked, attempts'

/** Inserts the turn and leases it to the process that received the message. */
export const insertTurn = (tx: Tx, turn: Omit<AgentTurn, 'status' | 'attempts'>, runner: string): Promise<number> =>
  tx.count(
    `insert into assistant_turns (workspace_id, turn_id, thread_id, seq, turn, asked, runner, lease_until)
     values ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(secs => $8))`,
    [turn.workspace_id, turn.turn_id, turn.thread_id, turn.seq, turn.turn, JSON.stringify(turn.asked), runner, LEASE_S],
  )

export const saveDraft = (
  tx: Tx,
  workspaceId: string,
  turnId: string,
  runner: string,
  { round, text }: { round: number; text: string },
): Promise<number> =>
  tx.count(
    `update assistant_turns set draft = $4, draft_round = $5
     where workspace_id = $1 and turn_id = $2 and runner = $3 and status = 'open'`,
    [workspaceId, turnId, runner, text, round],
  )

export const findDraft = (
  tx: Tx,
  workspaceId: string,
  turnId: string,
): Promise<{ status: AgentTurn['status']; round: number; text: string } | undefined> =>
  tx.maybe(
    'select status, draft_round as round, draft as text from assistant_turns where workspace_id = $1 and turn_id = $2',
    [workspaceId, turnId],
  )

export const findTurnOfMessage = (
  tx: Tx,
  workspaceId: string,
  threadId: string,
  messageId: string,
): Promise<AgentTurn | undefined> =>
  tx.maybe<AgentTurn>(
    `select ${columns} from assistant_turns where workspace_id = $1 and thread_id = $2
       and seq = (select seq from messages where workspace_id = $1 and message_id = $3)`,
    [workspaceId, threadId, messageId],
  )

/**
 * Undefined if another process works on the turn, an earlier message of the conversation is not answered yet, or the
 * turn is done.
 */
export const claimTurn = (
  tx: Tx,
  workspaceId: string,
  turnId: string,
  runner: string,
): Promise<AgentTurn | undefined> =>
  tx.maybe<AgentTurn>(
    `update assistant_turns t set runner = $3, lease_until = now() + make_interval(secs => $4), attempts = attempts + 1
     where workspace_id = $1 and turn_id = $2 and status = 'open' and (runner = $3 or lease_until <= now())
       and not exists (select from assistant_turns e where e.workspace_id = $1 and e.thread_id = t.thread_id
         and e.status = 'open' and e.seq < t.seq)
     returning ${columns}`,
    [workspaceId, turnId, runner, LEASE_S],
  )

/** Returns 0 if another process has taken over the turn. */
export const renewLease = (tx: Tx, workspaceId: string, turnId: string, runner: string): Promise<number> =>
  tx.count(
    `update assistant_turns set lease_until = now() + make_interval(secs => $4)
     where workspace_id = $1 and turn_id = $2 and runner = $3 and status = 'open'`,
    [workspaceId, turnId, runner, LEASE_S],
  )

/**
 * Releases the turn. With `counts` false, the attempt does not count, because its process did not cause the failure.
 */
export const releaseTurn = (
  tx: Tx,
  workspaceId: string,
  turnId: string,
  runner: string,
  { counts, delayS }: { counts: boolean; delayS: number },
): Promise<number> =>
  tx.count(
    `update assistant_turns set runner = null, lease_until = now() + make_interval(secs => $5), attempts = attempts - $4
     where workspace_id = $1 and turn_id = $2 and runner = $3 and status = 'open'`,
    [workspaceId, turnId, runner, counts ? 0 : 1, delayS],
  )

export const endTurn = (tx: Tx, workspaceId: string, turnId: string, runner: string): Promise<number> =>
  tx.count(
    `update assistant_turns set status = 'done', done_at = now(), draft = ''
     where workspace_id = $1 and turn_id = $2 and runner = $3 and status = 'open'`,
    [workspaceId, turnId, runner],
  )

export const readSteps = async (tx: Tx, workspaceId: string, turnId: string): Promise<Map<string, Json>> =>
  new Map(
    (
      await tx.rows<{ name: string; result: Json }>(
        'select name, result from assistant_steps where workspace_id = $1 and turn_id = $2',
        [workspaceId, turnId],
      )
    ).map(({ name, result }) => [name, result]),
  )

/** Returns 0 if this process no longer holds the turn. */
export const insertStep = (
  tx: Tx,
  workspaceId: string,
  turnId: string,
  runner: string,
  name: string,
  result: Json,
): Promise<number> =>
  tx.count(
    `insert into assistant_steps (workspace_id, turn_id, name, result)
     select workspace_id, turn_id, $4, $5 from assistant_turns
     where workspace_id = $1 and turn_id = $2 and runner = $3 and status = 'open' for update`,
    [workspaceId, turnId, runner, name, JSON.stringify(result)],
  )

/** Returns the last execution that the turn started. */
export const lastExecutionOf = async (tx: Tx, workspaceId: string, turnId: string): Promise<string | null> =>
  (
    await tx.maybe<{ execution_id: string | null }>(
      `select result ->> 'execution_id' as execution_id from assistant_steps
       where workspace_id = $1 and turn_id = $2 and name like 'start:%' order by created_at desc, name desc limit 1`,
      [workspaceId, turnId],
    )
  )?.execution_id ?? null
