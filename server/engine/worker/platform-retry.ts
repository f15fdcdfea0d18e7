import { SECOND } from '#platform/clock'
import type { Logger } from '#platform/log'
import { type Origin, type PlatformFault, platformFault } from '../platform-fault.ts'
import type { Frame } from './frame.ts'
import type { Live } from './live-types.ts'

// A fault of the platform ends no execution and uses up no attempt: the work is retried with growing pauses for as
// long as it takes. Users see the fault in `waiting_for` after the second failure. Most faults are over by then.

export type RetryPauses = { first: number; longest: number }
export const RETRY_PAUSES: RetryPauses = { first: SECOND / 4, longest: 30 * SECOND }
const SHOWN_FROM = 2

/** The result is no longer needed: the execution ended, was stopped, or goes back to the queue. */
export class NoLongerNeeded extends Error {}

/** Adds jitter of a quarter, so that executions that met the same fault do not retry together. */
const pauseAfter = ({ first, longest }: RetryPauses, tries: number, random: number): number =>
  Math.min(longest, first * 2 ** (tries - 1)) * (0.75 + random / 2)

export type PlatformWait = {
  workspaceId: string
  executionId: string
  epoch: number
  nodePath: string
  since: number
  until: number
  error: string
}

export type PlatformRetryDeps = {
  log: Logger
  /** Milliseconds of the database clock. */
  clock(): number
  notePlatformWait(wait: PlatformWait): Promise<unknown>
  forgetPlatformWait(wait: Pick<PlatformWait, 'workspaceId' | 'executionId' | 'nodePath'>): Promise<unknown>
  count(kind: PlatformFault['kind']): void
  pauses: RetryPauses
}

type About = {
  /** The frame of the node, or the top frame for the whole execution. */
  frame: Frame
  node: string
  origin?: Origin
  /** The result is needed even if the execution is being stopped. */
  evenWhenStopped?: boolean
}

export type PlatformRetry = <T>(live: Live, about: About, work: () => Promise<T>) => Promise<T>

export const makePlatformRetry = (deps: PlatformRetryDeps): PlatformRetry => {
  const { log } = deps
  const lost = (error: Error): void => log.debug({ err: error }, 'the waits of an execution could not be recorded')

  const retry = async <T>(
    live: Live,
    { frame, node, origin = 'engine', evenWhenStopped = false }: About,
    work: () => Promise<T>,
    firstError: unknown,
  ): Promise<T> => {
    const { workspaceId, executionId, epoch } = live.owned
    const at = { workspaceId, executionId, nodePath: frame.prefix + node }
    let since: number | undefined
    // Writes are serialized, so that the final deletion cannot be overtaken by an earlier write.
    let writing: Promise<unknown> | undefined
    let error = firstError
    try {
      for (let tries = 1; ; tries += 1) {
        const fault = platformFault(error, origin)
        if (!fault) throw error
        deps.count(fault.kind)
        const pause = pauseAfter(deps.pauses, tries, Math.random())
        log.warn(
          { err: error, execution_id: executionId, node: at.nodePath, tries },
          'the service has a problem; the node is tried again',
        )
        const now = deps.clock()
        since ??= now
        if (tries >= SHOWN_FROM) {
          const wait = { ...at, epoch, since, until: now + pause, error: fault.words }
          writing = (writing ?? Promise.resolve()).then(() => deps.notePlatformWait(wait)).catch(lost)
        }
        const isWanted = await live.pause(pause, evenWhenStopped)
        if (!isWanted || live.frames.get(frame.prefix) !== frame)
          throw new NoLongerNeeded('nothing waits for it any more')
        try {
          return await work()
        } catch (again) {
          error = again
        }
      }
    } finally {
      writing?.then(() => deps.forgetPlatformWait(at)).catch(lost)
    }
  }

  return async (live, about, work) => {
    try {
      return await work()
    } catch (error) {
      return retry(live, about, work, error)
    }
  }
}
