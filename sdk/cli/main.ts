#!/usr/bin/env node
import { main } from './cli.ts'

// `heddle`: the service from a terminal. `npm run --silent heddle -- help`

process.exitCode = await main(process.argv.slice(2))
