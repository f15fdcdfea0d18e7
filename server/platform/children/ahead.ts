/** What can be started ahead of its use. */
export type Startable = { readonly usable: boolean; end(): void }

/**
 * Starts one child more than was asked for, so that the next to ask does not wait for it to load its libraries. It belongs to nobody
 * until then. It is ended where nobody asks for a while.
 */
export function startAhead<C extends Startable>(
  start: () => C,
  { keepMs, afterMs }: { keepMs: number; afterMs: number },
) {
  let ready: { child: C; timer: NodeJS.Timeout } | undefined
  let soon: NodeJS.Timeout | undefined
  let closed = false

  const letGo = (): C | undefined => {
    clearTimeout(ready?.timer)
    const child = ready?.child
    ready = undefined
    return child
  }
  const prepare = (): void => {
    soon = undefined
    if (closed || ready) return
    ready = { child: start(), timer: setTimeout(() => letGo()?.end(), keepMs).unref() }
  }

  return {
    start(): C {
      const prepared = letGo()
      // Not at once: the one that is being started comes first.
      if (!closed) soon ??= setTimeout(prepare, afterMs).unref()
      return prepared?.usable ? prepared : start()
    },
    close(): void {
      closed = true
      clearTimeout(soon)
      letGo()?.end()
    },
  }
}
