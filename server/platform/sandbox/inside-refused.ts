/** What the author of an expression or of code is told. */
export class Refused extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message.slice(0, 2_000))
    this.code = code
  }
}
