/** An AbortController that is created only when a node reads its signal. Most nodes never do. */
export type Abortable = { readonly signal: AbortSignal; readonly aborted: boolean; abort(): void }

export const lazyAbort = (): Abortable => {
  let controller: AbortController | undefined
  let aborted = false
  return {
    get aborted() {
      return aborted
    },
    get signal() {
      if (!controller) {
        controller = new AbortController()
        if (aborted) controller.abort()
      }
      return controller.signal
    },
    abort: () => {
      aborted = true
      controller?.abort()
    },
  }
}
