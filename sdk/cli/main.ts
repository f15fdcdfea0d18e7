#!/usr/bin/env node
import { main } from './cli.ts'
import { EXIT } from './command.ts'

// `heddle`: the command line of the service. `npm run --silent heddle -- help`

// The reader of a pipe may want only the first lines: `heddle logs exe_… | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.done)
  process.stderr.write(`The output cannot be written: ${error.message}\n`)
  process.exit(EXIT.failed)
})

process.exitCode = await main(process.argv.slice(2))
