/**
 * Why an expression could not be used: `code` becomes the node's error code, `message` is for the author of the
 * expression.
 */
export class ExpressionFailure extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}
