import { ConnectionFailed, HeddleProblem } from '../problems.ts'

// The definition of a command: its arguments, options, exit codes and code. The help is printed from this definition.

export type Option = {
  type: 'string' | 'boolean'
  short?: string
  /** The placeholder of the value in the help. */
  value?: string
  about: string
}

export type Values = Record<string, string | boolean | undefined>

/** The output of a command: one JSON document with `--json`, lines of text without. */
export type Out = {
  readonly isJson: boolean
  /** Prints the whole result. */
  show(answer: unknown, text: string): void
  /** Prints one of many results as soon as it is available: JSON Lines with `--json`. */
  each(item: unknown, text: string): void
  /** Prints to standard error, separate from the result. */
  note(text: string): void
}

export type Command = {
  /** The arguments after the name. Required arguments are in capitals. */
  words: readonly string[]
  about: string
  options: Record<string, Option>
  /** Additional exit codes of this command, beyond those of every command. */
  exits?: Record<number, string>
  run(words: string[], values: Values, out: Out): Promise<number | void>
}

export const commonOptions: Record<string, Option> = {
  json: { type: 'boolean', about: 'print JSON, and errors as JSON on stderr' },
  workspace: { type: 'string', value: 'ws_…', about: 'use this workspace, if the key is valid in several' },
  help: { type: 'boolean', short: 'h', about: 'print this help' },
}

export const EXIT = { done: 0, failed: 1, usage: 2, conflict: 3, pending: 4, refused: 5, unreachable: 6 } as const

/** Exit codes that every command can have. */
export const exits: Record<number, string> = {
  [EXIT.done]: 'done',
  [EXIT.failed]: 'failure: the service refused the request, the run did not succeed, or a file cannot be read',
  [EXIT.usage]: 'usage error: an unknown option, or an argument is missing',
  [EXIT.refused]: 'not signed in, or the key may not do this (401, 403)',
  [EXIT.unreachable]: 'the service cannot be reached',
}

export class UsageError extends Error {}
export class NotSignedIn extends Error {}

const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
export const textOf = (values: Values, name: string): string | undefined => asText(values[name])
export const isSet = (values: Values, name: string): boolean => values[name] === true

export function makeOut(isJson: boolean): Out {
  const write = (line: string): void => void process.stdout.write(`${line}\n`)
  return {
    isJson,
    show: (answer, text) => {
      if (isJson) write(JSON.stringify(answer, null, 2))
      else if (text !== '') write(text)
    },
    each: (item, text) => write(isJson ? JSON.stringify(item) : text),
    note: (text) => console.error(text),
  }
}

/** Converts an error to a message for the user or for a program that reads `--json`, and an exit code. */
export function failureOf(error: unknown): {
  code: string
  message: string
  errors: { path: string; message: string }[]
  exit: number
} {
  if (error instanceof UsageError) return { code: 'usage', message: error.message, errors: [], exit: EXIT.usage }
  if (error instanceof NotSignedIn)
    return { code: 'not_signed_in', message: error.message, errors: [], exit: EXIT.refused }
  if (error instanceof HeddleProblem) {
    const exit = error.status === 401 || error.status === 403 ? EXIT.refused : EXIT.failed
    return { code: error.code, message: error.message, errors: [...error.errors], exit }
  }
  if (error instanceof ConnectionFailed)
    return {
      code: 'unreachable',
      message: 'The service cannot be reached. Is it running, and is the address right? See: heddle login --base URL',
      errors: [],
      exit: EXIT.unreachable,
    }
  return {
    code: 'failed',
    message: error instanceof Error ? error.message : String(error),
    errors: [],
    exit: EXIT.failed,
  }
}

export function report(error: unknown, isJson: boolean): number {
  const { exit, ...failure } = failureOf(error)
  if (isJson) console.error(JSON.stringify({ error: failure }))
  else {
    console.error(error instanceof HeddleProblem ? `${failure.code}: ${failure.message}` : failure.message)
    for (const { path, message } of failure.errors)
      if (message !== failure.message) console.error(`  ${path} ${message}`)
  }
  return exit
}
