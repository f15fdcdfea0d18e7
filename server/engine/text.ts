import { NodeFailure } from './node.ts'

// PostgreSQL can store neither NUL nor half a surrogate pair, and would refuse the whole batch. JSON.stringify writes
// both as \u escapes, so a text without such an escape is valid: the common case needs one search.

const BAD = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89ab][0-9a-f]{2}(?!\\ud[c-f])|d[c-f][0-9a-f]{2})/i

/** Checks whether text of JSON.stringify contains characters that cannot be stored. */
export const hasBadText = (json: string): boolean => json.includes('\\u') && BAD.test(json)

const MESSAGES = {
  output: 'the output contains NUL characters or unpaired surrogates, which cannot be stored',
  input: 'the input of the workflow contains NUL characters or unpaired surrogates, which cannot be stored',
  state: 'the initial state contains NUL characters or unpaired surrogates, which cannot be stored',
  argument: 'an argument contains NUL characters or unpaired surrogates, which cannot be stored',
}

export type TextIn = keyof typeof MESSAGES

export const unstorableText = (where: TextIn = 'output'): NodeFailure =>
  new NodeFailure('invalid_text', MESSAGES[where], { retryable: false })
