import { hasTooManyKeys } from './keys.ts'

/** An error for the author of an expression or of code. */
export class Refused extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message.slice(0, 2_000))
    this.code = code
  }
}

const MAX_RESULT = 4 * 1024 * 1024

export function withinSize(text: string): string {
  if (text.length > MAX_RESULT) throw new Refused('result_too_large', 'the result is larger than 4 MiB')
  if (hasTooManyKeys(text)) throw new Refused('result_too_large', 'the objects of the result have too many keys')
  return text
}
