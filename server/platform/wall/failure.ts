/**
 * Why code behind the wall gave no answer.
 * wall_unavailable: this machine cannot build the wall. busy: too many wait. timeout, output_too_large, ended: the code was stopped, or
 * stopped by itself (memory, crash). unreadable: it said something that is no answer.
 */
export type WallCode = 'wall_unavailable' | 'busy' | 'timeout' | 'output_too_large' | 'ended' | 'unreadable'

export class WallFailure extends Error {
  readonly code: WallCode
  /** Whether a request may have left before. */
  readonly sent: boolean

  constructor(code: WallCode, message: string, { sent = false }: { sent?: boolean } = {}) {
    super(message)
    this.code = code
    this.sent = sent
  }
}
