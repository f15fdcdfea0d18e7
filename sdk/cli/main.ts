#!/usr/bin/env node
import { main } from './cli.ts'

// `heddle`: the command line of the service. `npm run --silent heddle -- help`

process.exitCode = await main(process.argv.slice(2))
