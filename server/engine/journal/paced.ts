// Answers the callers of a written batch, a few in each turn of the event loop. After its answer, an execution
// continues, and a start is answered over HTTP and replaced by the next request, which takes 0.3 ms of CPU time in all.
// A batch of 64 took 20 to 40 ms in one turn, and requests of other tenants and health checks waited for its end.
// While one workspace is alone, only health checks would benefit, and it would lose a tenth of its throughput.

/**
 * The number of answers in a turn grows while turns are shorter than this, and is halved when one is longer: executions
 * that do not come over HTTP continue in 0.05 ms, and small groups of them would only make the next statements smaller.
 */
const TURN_MS = 3
const FEWEST = 16
const GROWTH = 4
const MOST = 256

/** A workspace is alone when no other one had an answer for this long. */
const ALONE_AFTER_MS = 1_000

export type Answer = { workspaceId: string; give(): void }

export type Paced = {
  /** Gives as many answers as this turn may give, or all of them if they are of a workspace that is alone. */
  add(answers: Answer[]): void
  /** Checks whether answers wait for a later turn. */
  isGiving(): boolean
  /** Gives all answers that wait for a later turn. */
  flush(): void
}

/** Orders the answers so that each workspace gets its first answer before any workspace gets its second. */
function inRounds(answers: Answer[]): Answer[] {
  const seen = new Map<string, number>()
  const numbered = answers.map((answer) => {
    const round = seen.get(answer.workspaceId) ?? 0
    seen.set(answer.workspaceId, round + 1)
    return { round, answer }
  })
  return numbered.sort((a, b) => a.round - b.round).map(({ answer }) => answer)
}

export const makePaced = (now: () => number = () => performance.now()): Paced => {
  let waiting: Answer[] = []
  let perTurn = FEWEST
  let given = 0
  let begunAt = 0
  let latest: string | undefined
  let sharedUntil = 0

  const isShared = (answers: Answer[]): boolean => {
    latest ??= answers[0]?.workspaceId
    const other = answers.find(({ workspaceId }) => workspaceId !== latest)
    if (other) {
      latest = other.workspaceId
      sharedUntil = now() + ALONE_AFTER_MS
    }
    return sharedUntil > now()
  }

  const give = (most: number): void => {
    for (const { give: giveAnswer } of waiting.splice(0, most)) giveAnswer()
  }

  const giveSome = (): void => {
    if (waiting.length === 0 || given >= perTurn) return
    if (given === 0) {
      begunAt = now()
      setImmediate(endTurn)
    }
    const most = perTurn - given
    given += Math.min(most, waiting.length)
    give(most)
  }

  const endTurn = (): void => {
    const took = now() - begunAt
    if (took > TURN_MS) perTurn = Math.max(FEWEST, perTurn >> 1)
    else if (given >= perTurn) perTurn = Math.min(MOST, perTurn + GROWTH)
    given = 0
    giveSome()
  }

  return {
    add(answers) {
      const isPaced = isShared(answers)
      waiting = waiting.concat(answers.length > perTurn ? inRounds(answers) : answers)
      if (isPaced) giveSome()
      else give(waiting.length)
    },
    isGiving: () => waiting.length > 0,
    flush: () => give(waiting.length),
  }
}
