import { rehearse } from './chaos/rehearsal.ts'

// `npm run chaos`: workers, server and database are killed and stopped under load; exits with 1 if anything that was
// promised does not hold. `SEED=n` repeats the choices of an earlier rehearsal.

const outcome = await rehearse({
  seed: Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31)),
  callers: 16,
  restMs: 0,
  leastAcknowledged: Number(process.env.EXECUTIONS ?? 3000),
  oneOfTwo: Number(process.env.ONE_OF_TWO ?? 12),
  theOnlyOne: Number(process.env.THE_ONLY_ONE ?? 6),
  servers: Number(process.env.SERVERS ?? 4),
  stops: Number(process.env.STOPS ?? 4),
  databases: Number(process.env.DATABASES ?? 8),
  takeoverMs: 5000,
  say: (line) => console.error(line),
})
console.log(JSON.stringify(outcome, null, 2))
process.exit(outcome.violations.length > 0 ? 1 : 0)
