/** A child that can be started ahead of its use. */
export type Startable = { readonly usable: boolean; end(): void }

/**
 * Starts one child more than callers requested, so that the next caller does not wait until the child has loaded its
 * libraries. The extra child belongs to no caller until then. It ends if no caller requests it for a while.
 */
export function prestart<C extends Startable>(
  start: () => C,
  { keepMs, afterMs }: { keepMs: number; afterMs: number },
) {
  let ready: { child: C; timer: NodeJS.Timeout } | undefined
  let soon: NodeJS.Timeout | undefined
  let closed = false

  const takeReady = (): C | undefined => {
    clearTimeout(ready?.timer)
    const child = ready?.child
    ready = undefined
    return child
  }
  const prepare = (): void => {
    soon = undefined
    if (closed || ready) return
    try {
      ready = { child: start(), timer: setTimeout(() => takeReady()?.end(), keepMs).unref() }
    } catch {
      // The next caller starts its own child, and gets the error if that fails too.
    }
  }

  return {
    start(): C {
      const prepared = takeReady()
      // The extra child starts a little later, so that it does not slow down the child that the caller is waiting for.
      if (!closed) soon ??= setTimeout(prepare, afterMs).unref()
      return prepared?.usable ? prepared : start()
    },
    close(): void {
      closed = true
      clearTimeout(soon)
      takeReady()?.end()
    },
  }
}
