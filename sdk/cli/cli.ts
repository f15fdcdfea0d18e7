import { parseArgs } from 'node:util'
import { type Command, commonOptions, EXIT, makeOut, report, UsageError, type Values } from './command.ts'
import { commands } from './commands.ts'
import { helpOf, overview } from './help.ts'

const optionsOf = (command: Command) =>
  Object.fromEntries(
    Object.entries({ ...command.options, ...commonOptions }).map(([name, { type, short }]) => [
      name,
      { type, ...(short && { short }) },
    ]),
  )

function read(name: string, command: Command, args: string[]): { words: string[]; values: Values } {
  try {
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options: optionsOf(command) })
    return { words: positionals, values: values as Values }
  } catch (error) {
    // After its first sentence, the message describes another use of dashes.
    const [problem] = (error as Error).message.split(/\.\s/, 1)
    throw new UsageError(`${problem}. See: heddle ${name} --help`)
  }
}

function check(name: string, { words: wanted }: Command, given: string[]): void {
  const missing = wanted[given.length]
  if (missing !== undefined) throw new UsageError(`${missing} is missing. See: heddle ${name} --help`)
  if (given.length > wanted.length) throw new UsageError(`"${given[wanted.length]}" is one argument too many.`)
}

const isCommand = (arg: string): boolean => arg === 'help' || Object.hasOwn(commands, arg)

/** Finds the command, which is first or follows options that every command has: `heddle --json list`. */
function split(args: string[]): { name: string; rest: string[] } {
  const at = args[0]?.startsWith('-') ? args.findIndex(isCommand) : 0
  const pair = `${args[at]} ${args[at + 1]}`
  if (Object.hasOwn(commands, pair))
    return { name: pair, rest: args.filter((_, index) => index !== at && index !== at + 1) }
  const name = args[at] ?? 'help'
  return { name, rest: args.filter((_, index) => index !== at) }
}

/** Runs one command line and returns its exit code. */
export async function main(args: string[]): Promise<number> {
  const { name, rest } = split(args)
  const isJson = args.includes('--json')
  try {
    if (name === 'help') {
      const { words } = read(name, { words: [], about: '', options: {}, async run() {} }, rest)
      const pair = words.slice(0, 2).join(' ')
      return help(Object.hasOwn(commands, pair) ? pair : words[0])
    }
    const command = Object.hasOwn(commands, name) ? commands[name]! : undefined
    if (!command) throw new UsageError(`There is no command "${name}". See: heddle help`)
    const { words, values } = read(name, command, rest)
    if (values.help) return help(name)
    check(name, command, words)
    return (await command.run(words, values, makeOut(isJson))) ?? EXIT.done
  } catch (error) {
    return report(error, isJson)
  }
}

function help(name: string | undefined): number {
  const command = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined
  if (name !== undefined && !command) throw new UsageError(`There is no command "${name}". See: heddle help`)
  process.stdout.write(command ? helpOf(name!, command) : overview(commands))
  return EXIT.done
}
