/** Why a document could not be indexed, as shown to the person who added it. */
export class IndexFailure extends Error {
  readonly code: string
  readonly retryable: boolean

  constructor(code: string, message: string, { retryable = false }: { retryable?: boolean } = {}) {
    super(message)
    this.code = code
    this.retryable = retryable
  }
}
