import { SECOND } from './clock.ts'

// Periodic work checks for due work, and for work whose hint was lost: when it is woken, and again after a pause.

let longestPause = Number.POSITIVE_INFINITY
const started = new Set<() => void>()

/** The pause before the first check of a starting program: it answers requests before it checks for work. */
const FIRST_CHECK = SECOND / 4

export const msUntilFirstCheck = (): number => msUntilNextCheck(FIRST_CHECK)

export const msUntilNextCheck = (ms: number): number => Math.min(ms, longestPause)

/** For tests: sets the maximum pause of this process. */
export const limitCheckPauses = (ms: number): void => {
  longestPause = ms
}

/** For tests, which make work due in the tables without a hint: starts a check of all periodic work of this process. */
export const checkNow = (): void => {
  for (const wake of started) wake()
}

export type PeriodicCheck = {
  start(): Promise<void>
  /** Starts a check, because work may be due. During a check, requests another one. */
  wake(): void
  stop(): Promise<void>
}

/** Runs one check at a time. */
export function makePeriodicCheck(options: {
  /** Checks for work, and returns the milliseconds until the next check. */
  check(): Promise<number>
  onError(error: unknown): void
  /** Subscribes to hints that something may be due. */
  listen?(wake: () => void): Promise<() => Promise<void>>
}): PeriodicCheck {
  let timer: NodeJS.Timeout | undefined
  let checking: Promise<void> = Promise.resolve()
  let isQueued = false
  let isStopped = false
  let unlisten: (() => Promise<void>) | undefined

  const checkOnce = async (): Promise<void> => {
    isQueued = false
    if (isStopped) return
    const pause = await options.check().catch((error: unknown) => {
      options.onError(error)
      return SECOND
    })
    if (!isStopped && !isQueued) timer = setTimeout(wake, msUntilNextCheck(Math.ceil(pause)))
  }

  function wake(): void {
    if (isQueued || isStopped) return
    isQueued = true
    clearTimeout(timer)
    checking = checking.then(checkOnce)
  }

  return {
    async start() {
      started.add(wake)
      unlisten = await options.listen?.(wake)
      // A hint may have arrived in the meantime.
      if (!isQueued && !isStopped) timer ??= setTimeout(wake, msUntilFirstCheck())
    },
    wake,
    async stop() {
      isStopped = true
      started.delete(wake)
      clearTimeout(timer)
      await unlisten?.()
      await checking
    },
  }
}
