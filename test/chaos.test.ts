import { expect } from 'vitest'
import { runScenario } from '../bench/chaos/scenario.ts'
import { slow } from './harness/slow.ts'

// The short form of `npm run chaos`.
slow(
  'no acknowledged work is lost and no recorded work is repeated if workers and the database are killed under load',
  {
    timeout: 180_000,
  },
  async () => {
    const outcome = await runScenario({
      seed: 7,
      callers: 4,
      restMs: 50,
      leastAcknowledged: 150,
      oneOfTwo: 1,
      theOnlyOne: 1,
      servers: 0,
      stops: 1,
      databases: 1,
    })
    expect(outcome.violations).toEqual([])
    expect(outcome.acknowledged).toBeGreaterThanOrEqual(150)
  },
)
