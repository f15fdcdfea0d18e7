export type Abortable = { readonly signal: AbortSignal; readonly aborted: boolean; abort(): void }

/** An AbortController that is created only when a node reads its signal. Most nodes never do. */
export class LazyAbort implements Abortable {
  aborted = false
  private controller: AbortController | undefined

  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController()
      if (this.aborted) this.controller.abort()
    }
    return this.controller.signal
  }

  abort(): void {
    this.aborted = true
    this.controller?.abort()
  }
}
