import { type Command, UsageError } from './command.ts'
import { exportWorkflow, importWorkflow } from './files.ts'
import { importN8n } from './import-n8n.ts'
import { keys } from './keys.ts'
import { login } from './login.ts'
import { receipt, verify } from './receipts.ts'
import { rotateKey } from './rotate-key.ts'
import { logs, run } from './runs.ts'
import { pullCommand, pushCommand } from './sync-commands.ts'
import { list } from './workflows.ts'

/** The package itself starts the service before this code runs; in a checkout, use `npm start`. */
const serve: Command = {
  words: [],
  about: 'Start the service, with its data in ./heddle-data. Without a command `heddle` does the same.',
  options: {
    role: { type: 'string', value: 'all|api|worker', about: 'which part of the program runs' },
    'reset-password': { type: 'string', value: 'ADDRESS', about: 'print a new password for this account, and exit' },
  },
  async run() {
    throw new UsageError('`heddle serve` starts only the installed package; in a checkout use npm start.')
  },
}

export const commands: Record<string, Command> = {
  serve,
  login,
  keys,
  list,
  run,
  logs,
  export: exportWorkflow,
  import: importWorkflow,
  'import n8n': importN8n,
  pull: pullCommand,
  push: pushCommand,
  receipt,
  verify,
  'rotate-key': rotateKey,
}
