import { hostname } from 'node:os'
import type { Definition } from '#model/definition'
import { makeLru } from '#model/lru'
import type { Effect } from '#model/node'
import { SECOND } from '#platform/clock'
import { type Database, isConnectionLost } from '#platform/db/pool'
import { newId } from '#platform/ids'
import type { Logger } from '#platform/log'
import type { DatabaseClock } from '../clock.ts'
import type { Hints } from '../hints.ts'
import { replay } from '../interpreter/apply.ts'
import { emptyState } from '../interpreter/state.ts'
import type { StartRow } from '../journal/batch.ts'
import { type Journal, makeJournal } from '../journal/journal.ts'
import { checkedText, hydrate, offload } from '../outputs.ts'
import type { EnginePorts } from '../ports.ts'
import { type EffectDeps, makeEffects } from './effects.ts'
import { type Live, makeLive } from './live.ts'
import { contextOf, mayMeetPeople, type Owned, ownedFromStart } from './owned.ts'
import { makeReaper } from './reaper.ts'
import type { ExecutionRow, Store } from './store.ts'

export type WorkerLimits = {
  /** Executions in memory at once. */
  capacity: number
  /** Running at once in one workspace. */
  perWorkspace: number
  /** Taken from one workspace before the next has its turn. */
  claimPerWorkspace: number
}

// 64 callers that start five-node executions as fast as they are acknowledged keep about 400 of them under way; a lower
// limit sends every other start through the queue, which costs three times as much.
export const defaultLimits: WorkerLimits = { capacity: 1024, perWorkspace: 512, claimPerWorkspace: 16 }

const TICK = SECOND / 2
const DRAIN = 8 * SECOND
const STRAYS_EVERY = 8
const CLAIM = 64
const NOWHERE = '00000000-0000-0000-0000-000000000000'

export type WorkerDeps = {
  db: Database
  store: Store
  ports: EnginePorts
  hints: Hints
  clock: DatabaseClock
  log: Logger
  limits: WorkerLimits
  startChild: EffectDeps['startChild']
  /** Executions that ended and whose end somebody wants to know. */
  tell(): void
}

type Identity = { workerId: string; journal: Journal }

export type Worker = {
  identity(): Identity
  loadDefinition(workspaceId: string, ref: string): Promise<Definition>
  /** Whether an execution started now may be this worker's from birth. */
  hasRoomFor(workspaceId: string): boolean
  /** Starts and owns it. False when its idempotency key or its id is taken. */
  begin(at: { workspaceId: string; executionId: string }, start: StartRow, definition: Definition): Promise<boolean>
  claimSoon(): void
  nudged(ids: string[]): void
  running(): number
  stop(): Promise<void>
}

export const makeWorker = async (deps: WorkerDeps): Promise<Worker> => {
  const { db, store, ports, hints, clock, log, limits } = deps
  const lives = new Map<string, Live>()
  const perWorkspace = new Map<string, number>()
  const definitions = makeLru<Promise<Definition>>(1_000)
  const reaper = makeReaper()
  let identity: Identity
  let after = NOWHERE
  let alone = false
  let queueKnown = false
  let claiming: Promise<void> | undefined
  let claimAgain = false
  let stopping = false
  let renewing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let emptied: (() => void) | undefined
  let suspects = 0
  /** Claimed, but not yet read. */
  const arriving = new Set<string>()
  let strays = new Set<string>()
  let ticks = 0

  const effectOf = (type: string): Effect => ports.nodes[type]?.descriptor.effect ?? 'pure'

  /** Executions that need it together load it once. */
  const loadDefinition = (workspaceId: string, ref: string): Promise<Definition> => {
    const key = `${workspaceId} ${ref}`
    const known = definitions.get(key)
    if (known) return known
    const loading = ports.loadDefinition(workspaceId, ref)
    definitions.set(key, loading)
    loading.catch(() => definitions.remove(key))
    return loading
  }

  const carryOut = makeEffects({
    ports,
    log,
    readItems: (live, path, from) => store.items(live.owned.executionId, path, from),
    startChild: deps.startChild,
  })

  const newIdentity = async (): Promise<Identity> => {
    const workerId = newId()
    await store.register({ workerId, host: hostname(), pid: process.pid })
    return { workerId, journal: makeJournal({ pool: db.enginePool, workerId, log }) }
  }

  /** Give up everything under the old name; the journal says what was written. Then begin anew under another. */
  const renew = (): void => {
    renewing ??= (async () => {
      const old = identity
      for (const live of [...lives.values()]) live.abandon()
      void old.journal.close()
      for (let wait = 50; ; wait = Math.min(SECOND, wait * 2)) {
        try {
          // Waits for statements of ours that may still be under way.
          await store.bury(old.workerId, false)
          identity = await newIdentity()
          break
        } catch (error) {
          log.warn({ err: error }, 'the database does not answer; the worker waits for it')
          await new Promise((resolve) => setTimeout(resolve, wait))
        }
      }
      renewing = undefined
      claimSoon()
    })()
  }

  const adopt = (owned: Owned, of: Identity): Live => {
    const live = makeLive(
      {
        journal: of.journal,
        clock: clock.now,
        log,
        carryOut,
        readInbox: async ({ owned: { executionId } }, seen) =>
          (await store.inboxAfter([{ execution_id: executionId, seen }])).get(executionId) ?? [],
        left: (gone, how) => {
          if (lives.get(owned.executionId) === gone) {
            lives.delete(owned.executionId)
            perWorkspace.set(owned.workspaceId, (perWorkspace.get(owned.workspaceId) ?? 1) - 1)
            if (perWorkspace.get(owned.workspaceId) === 0) perWorkspace.delete(owned.workspaceId)
            if (owned.crashes >= 2) suspects -= 1
          }
          if (how === 'ended') {
            if (gone.top.state.status !== 'succeeded' || owned.tellEnd || owned.metPeople) deps.tell()
          }
          if (how !== 'abandoned' && owned.maxConcurrency !== null) void freeSlot()
          if (queueKnown) claimSoon()
          if (lives.size === 0) emptied?.()
        },
        lost: (error) => {
          log.warn({ err: error }, 'the worker lost its say and begins anew')
          if (of === identity) renew()
        },
        offloadResults: async ({ owned: about }, results) => offload(ports.blobs, about, checkedText(results).text),
        appended: hints.appended,
      },
      owned,
    )
    lives.set(owned.executionId, live)
    perWorkspace.set(owned.workspaceId, (perWorkspace.get(owned.workspaceId) ?? 0) + 1)
    if (owned.crashes >= 2) suspects += 1
    return live
  }

  const freeSlot = async (): Promise<void> => {
    await store.grantSlots(100).catch((error: Error) => log.warn({ err: error }, 'no slot was granted'))
    claimSoon()
  }

  const ownedFromRow = async (
    row: ExecutionRow,
    events: Awaited<ReturnType<Store['eventsAfter']>>,
    inbox: Awaited<ReturnType<Store['inboxAfter']>>,
  ): Promise<Owned> => {
    const definition = await loadDefinition(row.workspace_id, row.definition_ref)
    const facts = events.get(row.execution_id) ?? []
    const trigger = { kind: row.trigger_kind, id: row.trigger_id }
    const about = {
      workspaceId: row.workspace_id,
      executionId: row.execution_id,
      workflowId: row.workflow_id,
      startedBy: row.started_by,
      input: row.input,
    }
    const begun = row.snapshot_seq > 0 || facts.length > 0
    return {
      ...about,
      versionId: row.version_id,
      systemSlug: row.system_slug,
      definitionRef: row.definition_ref,
      trigger,
      parent: row.parent_execution_id ? { executionId: row.parent_execution_id, node: row.parent_node ?? '' } : null,
      depth: row.depth,
      maxConcurrency: row.max_concurrency,
      tellEnd: row.tell_end,
      metPeople: mayMeetPeople(definition),
      epoch: row.epoch,
      crashes: row.crashes,
      seen: row.seen,
      inbox: inbox.get(row.execution_id) ?? [],
      snapshotSeq: row.snapshot_seq,
      begun,
      state: await hydrate(ports.blobs, replay(row.snapshot ?? emptyState(), facts)),
      deadline: row.timeout_s === null ? null : (row.started_at?.getTime() ?? clock.now()) + row.timeout_s * 1000,
      context: contextOf(about, trigger, definition, effectOf),
    }
  }

  const claimOnce = async (): Promise<boolean> => {
    const of = identity
    const room = limits.capacity - lives.size
    if (room <= 0 || stopping || renewing) return false
    const wanted = {
      total: Math.min(room, CLAIM),
      // A workspace that had the whole of the last claim to itself keeps nobody waiting.
      perWorkspace: alone ? CLAIM : limits.claimPerWorkspace,
      workspaceLimit: limits.perWorkspace,
      suspects: suspects > 0 ? 0 : 1,
    }
    const rows = await store.claim(of.workerId, after, wanted).catch((error: Error) => {
      // It may have claimed what this worker knows nothing of.
      if (isConnectionLost(error) && of === identity) renew()
      throw error
    })
    for (const row of rows) arriving.add(row.execution_id)
    alone = rows.length > 0 && rows.every((row) => row.workspace_id === after)
    after = rows.at(-1)?.workspace_id ?? NOWHERE
    if (rows.length === 0) {
      // Nothing to take, or only of workspaces that are at their limit: then the next end makes room.
      queueKnown = [...perWorkspace.values()].some((running) => running >= limits.perWorkspace)
      return false
    }
    const [events, inbox] = await Promise.all([store.eventsAfter(rows), store.inboxAfter(rows)]).catch(
      async (error) => {
        for (const row of rows) arriving.delete(row.execution_id)
        throw error
      },
    )
    await Promise.all(
      rows.map(async (row) => {
        try {
          const owned = await ownedFromRow(row, events, inbox)
          arriving.delete(row.execution_id)
          if (of === identity && !renewing) await adopt(owned, of).begin()
        } catch (error) {
          arriving.delete(row.execution_id)
          log.error({ err: error, execution_id: row.execution_id }, 'an execution could not be taken up')
          await putBack(row, of)
        }
      }),
    )
    return true
  }

  /** It cannot be taken up now (its definition or a blob did not load): it waits a little, and counts as a crash. */
  const putBack = async (row: ExecutionRow, of: Identity): Promise<void> => {
    await db.enginePool
      .query({
        name: 'engine-put-back',
        text: `update executions set worker_id = null, status = 'waiting', epoch = epoch + 1, crashes = crashes + 1,
            due_at = case when crashes < 4 then now() + interval '2 seconds' * (crashes + 1) end,
            waiting_for = jsonb_build_array(jsonb_build_object('kind', case when crashes < 4 then 'timer' else 'slot' end,
              'reason', case when crashes < 4 then 'retaken' else 'poison' end, 'since', now()))
          where workspace_id = $1 and execution_id = $2 and worker_id = $3`,
        values: [row.workspace_id, row.execution_id, of.workerId],
      })
      .catch((error: Error) => log.warn({ err: error }, 'an execution could not be put back'))
  }

  const claimSoon = (): void => {
    queueKnown = true
    if (stopping) return
    if (claiming) {
      claimAgain = true
      return
    }
    claiming = (async () => {
      try {
        do claimAgain = false
        while ((await claimOnce()) || claimAgain)
      } catch (error) {
        log.warn({ err: error }, 'nothing could be claimed')
      } finally {
        claiming = undefined
      }
    })()
  }

  /** Rows that say they are this worker's, and are not, twice in a row: they go back to the queue. */
  const releaseStrays = async (workerId: string): Promise<void> => {
    const unknown = (await store.ownedBy(workerId)).filter((id) => !lives.has(id) && !arriving.has(id))
    const again = unknown.filter((id) => strays.has(id))
    strays = new Set(unknown)
    if (again.length === 0) return
    log.warn({ executions: again.length }, 'executions that nobody was executing go back to the queue')
    await store.releaseStrays(workerId, again)
  }

  const tick = async (): Promise<void> => {
    const askedAt = performance.now()
    const { workerId } = identity
    try {
      const seen = await store.tick(workerId)
      clock.set(Number(seen.now), askedAt)
      if (!seen.alive && identity.workerId === workerId) renew()
      for (const dead of reaper.look(seen.beats, workerId)) {
        const released = await store.bury(dead, true)
        log.warn({ worker_id: dead, released }, 'a worker died; its executions go on elsewhere')
        if (released > 0) queueKnown = true
      }
      if (++ticks % STRAYS_EVERY === 0) await releaseStrays(workerId)
      if (seen.due) await store.wakeDue(500)
      if (seen.slots) await store.grantSlots(1000)
      if (seen.untold) deps.tell()
      for (const id of seen.unread) lives.get(id)?.lookAtInbox()
      if (seen.queued || seen.due || seen.slots || queueKnown) claimSoon()
    } catch (error) {
      log.warn({ err: error }, 'the tick of the worker failed')
    }
    if (!stopping) timer = setTimeout(() => void tick(), TICK)
  }

  identity = await newIdentity()
  await tick()

  return {
    identity: () => identity,
    loadDefinition,
    hasRoomFor: (workspaceId) =>
      !stopping &&
      !renewing &&
      !queueKnown &&
      lives.size < limits.capacity &&
      (perWorkspace.get(workspaceId) ?? 0) < limits.perWorkspace,
    begin: async (at, start, definition) => {
      const of = identity
      const owned = ownedFromStart({ ...at, clock: clock.now() }, start, definition, effectOf)
      return (await adopt(owned, of).begin(start)).started
    },
    claimSoon,
    nudged: (ids) => {
      for (const id of ids) lives.get(id)?.lookAtInbox()
      if (ids.some((id) => !lives.has(id))) claimSoon()
    },
    running: () => lives.size,
    stop: async () => {
      stopping = true
      clearTimeout(timer)
      await claiming
      const empty = new Promise<void>((resolve) => {
        emptied = resolve
        if (lives.size === 0) resolve()
      })
      for (const live of lives.values()) live.release()
      const deadline = new Promise<void>((resolve) => {
        setTimeout(resolve, DRAIN).unref()
      })
      await Promise.race([empty, deadline])
      for (const live of [...lives.values()]) live.abandon()
      await renewing
      await identity.journal.close()
      await store
        .bury(identity.workerId, false)
        .catch((error: Error) => log.warn({ err: error }, 'the worker left without a word'))
    },
  }
}
