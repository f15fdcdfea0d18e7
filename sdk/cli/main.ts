#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { ConnectionFailed, HeddleProblem } from '../problems.ts'
import { commands } from './commands.ts'

// `heddle`: the service from a terminal. `npm run --silent heddle -- help`

const help = `heddle — workflows from the terminal

  heddle login [--base URL] [--key hk_…]    remember where the service is and who you are; without --key it asks for it,
                                            or reads it from a pipe
  heddle list                               workflows you own or are a member of
  heddle run WORKFLOW [--input JSON|@FILE] [--wait]
  heddle logs EXECUTION [--follow]          the journal, oldest first; --follow until it ends
  heddle export WORKFLOW [--to FILE]        the active version as a file for git
  heddle import FILE [--workflow ID] [--activate] [--note TEXT]
                                            a new workflow, or a new version of one; what it names is found by name
  heddle pull DIR [--dry-run] [--force] [--delete] [--json]
                                            write the workflows you own or edit into a folder, one file each
  heddle push DIR [--dry-run] [--force] [--delete] [--json]
                                            bring the workspace in step with the folder. Exit code 0: in step; 1: refused;
                                            3: changed on both sides; 4: a dry run found something to do
  heddle rotate-key [--new-key-file FILE] [--json]
                                            for operators: seal every secret of the installation with a new key. The file holds
                                            32 bytes in base64 and is required where HEDDLE_SECRET_KEY is set

Each takes --workspace ws_… where the key holds in several; login remembers it.
HEDDLE_BASE, HEDDLE_KEY and HEDDLE_WORKSPACE override what login remembered. WORKFLOW is an id or a name.
`

const read = () =>
  parseArgs({
    allowPositionals: true,
    options: {
      base: { type: 'string' },
      key: { type: 'string' },
      workspace: { type: 'string' },
      input: { type: 'string' },
      wait: { type: 'boolean', default: false },
      follow: { type: 'boolean', short: 'f', default: false },
      to: { type: 'string' },
      workflow: { type: 'string' },
      activate: { type: 'boolean', default: false },
      note: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
      force: { type: 'boolean', default: false },
      delete: { type: 'boolean', default: false },
      'new-key-file': { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })

/** Written for the person who typed the command. */
function tell(error: unknown): void {
  if (error instanceof HeddleProblem) {
    console.error(`${error.code}: ${error.message}`)
    for (const { path, message } of error.errors) console.error(`  ${path} ${message}`)
  } else if (error instanceof ConnectionFailed)
    console.error(
      'The service cannot be reached. Is it running, and is the address right? See: heddle login --base URL',
    )
  else console.error(error instanceof Error ? error.message : error)
}

try {
  const { values, positionals } = read()
  const [name = 'help', ...rest] = positionals
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (values.help || name === 'help') process.stdout.write(help)
  else if (command) await command(rest, values)
  else {
    console.error(`There is no command "${name}".\n\n${help}`)
    process.exitCode = 2
  }
} catch (error) {
  tell(error)
  process.exitCode = 1
}
