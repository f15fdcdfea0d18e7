import { suggestion } from '#model/nearest'
import { StartRefused } from './db/refused.ts'

// The arguments of the program. Everything else is a setting (config.ts).

export type Role = 'all' | 'api' | 'worker'

type Arguments = {
  readonly role: Role
  /** The account whose password is replaced. If set, the program serves no requests. */
  readonly resetPassword: string | null
  /** A text to print instead of starting. */
  readonly prints: 'help' | 'version' | null
}

const OPTIONS: Readonly<Record<string, { value: string; about: string }>> = {
  '--role': { value: 'all|api|worker', about: 'the part of the program that runs; default: all' },
  '--reset-password': { value: 'ADDRESS', about: 'print a new password for this account, and exit' },
  '--help': { value: '', about: 'print this help, and exit' },
  '--version': { value: '', about: 'print the version, and exit' },
}

/** Accepts `--name value` and `--name=value`. */
export function readArguments(argv: readonly string[]): Arguments {
  const given = new Map<string, string>()
  const words = [...argv]
  while (words.length > 0) {
    const word = words.shift()!
    const [, name, inline] = /^(--[^=]+)(?:=(.*))?$/s.exec(word === '-h' ? '--help' : word) ?? []
    if (name === undefined || !Object.hasOwn(OPTIONS, name)) throw refuseUnknown(word)
    const hasValue = OPTIONS[name]!.value !== ''
    if (!hasValue && inline !== undefined) throw new StartRefused(`${name} has no value.`)
    given.set(name, hasValue ? (inline ?? words.shift() ?? '') : '')
  }
  if (given.has('--help')) return { role: 'all', resetPassword: null, prints: 'help' }
  if (given.has('--version')) return { role: 'all', resetPassword: null, prints: 'version' }
  const resetPassword = given.get('--reset-password') ?? null
  if (resetPassword === '') throw new StartRefused('--reset-password needs the e-mail address of an account.')
  return { role: readRole(given.get('--role') ?? 'all'), resetPassword, prints: null }
}

function readRole(role: string): Role {
  if (role !== 'all' && role !== 'api' && role !== 'worker')
    throw new StartRefused('--role is not valid. Allowed: all | api | worker.')
  return role
}

const refuseUnknown = (word: string): StartRefused =>
  new StartRefused(
    `"${word}" is not an argument of this program${suggestion(word, Object.keys(OPTIONS)) || '.'} See --help.`,
  )

type Described = { shown: string; meaning: string }

export function helpText(settings: Readonly<Record<string, Described>>): string {
  const options = Object.entries(OPTIONS).map(([name, { value, about }]) => ({
    left: `${name} ${value}`.trim(),
    about,
  }))
  const width = Math.max(...options.map(({ left }) => left.length)) + 2
  return `heddle: starts the service

In a checkout: npm start -- [OPTIONS]
Installed:     heddle serve [OPTIONS], with its data in ./heddle-data; heddle --help lists the other commands

Options
${options.map(({ left, about }) => `  ${left.padEnd(width)}${about}`).join('\n')}

Settings are environment variables, with these defaults:
${Object.entries(settings)
  .map(([name, { shown, meaning }]) => `\n  ${name} (${shown})\n    ${meaning.replaceAll('`', '')}`)
  .join('\n')}
`
}
