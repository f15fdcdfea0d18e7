/**
 * The reason why code behind the wall gave no answer.
 * wall_unavailable: this machine cannot build the wall. busy: too many calls wait. timeout, output_too_large, ended:
 * the code was stopped, or stopped by itself (memory, crash). unreadable: the output is not an answer.
 */
export type WallCode = 'wall_unavailable' | 'busy' | 'timeout' | 'output_too_large' | 'ended' | 'unreadable'

export class WallFailure extends Error {
  readonly code: WallCode
  /** A request may have been sent before the failure. */
  readonly sent: boolean

  constructor(code: WallCode, message: string, { sent = false }: { sent?: boolean } = {}) {
    super(message)
    this.code = code
    this.sent = sent
  }
}
