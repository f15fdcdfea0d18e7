import { SECOND } from './clock.ts'

// Periodic work looks for what is due and for what no hint told it of: when it is woken, and again after a pause.

let longestPause = Number.POSITIVE_INFINITY
const started = new Set<() => void>()

/** Before the first look of a program that starts: it answers requests before it looks for work. */
const FIRST_LOOK = SECOND / 4

export const untilFirstLook = (): number => untilNextLook(FIRST_LOOK)

export const untilNextLook = (ms: number): number => Math.min(ms, longestPause)

/** For tests: no pause of the process is longer. */
export const shortenLooks = (ms: number): void => {
  longestPause = ms
}

/** For tests, which make things due in the tables, where no hint follows: all periodic work of the process looks at once. */
export const lookNow = (): void => {
  for (const wake of started) wake()
}

export type Looking = {
  start(): Promise<void>
  /** Something may be due. During a look this asks for another one. */
  wake(): void
  stop(): Promise<void>
}

/** One look at a time. */
export function makeLooking(options: {
  /** Looks, and gives the milliseconds until it must look again. */
  look(): Promise<number>
  onError(error: unknown): void
  /** Subscribes to hints that something may be due. */
  listen?(wake: () => void): Promise<() => Promise<void>>
}): Looking {
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()
  let isQueued = false
  let isStopped = false
  let unlisten: (() => Promise<void>) | undefined

  const lookOnce = async (): Promise<void> => {
    isQueued = false
    if (isStopped) return
    const pause = await options.look().catch((error: unknown) => {
      options.onError(error)
      return SECOND
    })
    if (!isStopped && !isQueued) timer = setTimeout(wake, untilNextLook(Math.ceil(pause)))
  }

  function wake(): void {
    if (isQueued || isStopped) return
    isQueued = true
    clearTimeout(timer)
    looking = looking.then(lookOnce)
  }

  return {
    async start() {
      started.add(wake)
      unlisten = await options.listen?.(wake)
      // A hint may have come meanwhile.
      if (!isQueued && !isStopped) timer ??= setTimeout(wake, untilFirstLook())
    },
    wake,
    async stop() {
      isStopped = true
      started.delete(wake)
      clearTimeout(timer)
      await unlisten?.()
      await looking
    },
  }
}
