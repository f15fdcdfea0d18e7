import { expect } from 'vitest'
import { runReleases } from '../bench/chaos/releases.ts'
import { slow } from './harness/slow.ts'

// The short form of `npm run chaos -- releases`. It takes a minute, and much longer on a busy machine.
slow(
  'a release is replaced process by process under load, and what only the next one understands is left to it',
  { timeout: 900_000 },
  async () => {
    const outcome = await runReleases({ seed: 5, callers: 2, perStep: 15 })
    expect(outcome.violations).toEqual([])
    expect(outcome.left_to_newer).toBeGreaterThan(0)
    expect(outcome.of_new_types).toBeGreaterThan(0)
  },
)
