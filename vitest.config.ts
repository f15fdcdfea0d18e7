import { defineConfig } from 'vitest/config'
import { SlowFirst } from './test/harness/slow-first.ts'

export default defineConfig({
  test: {
    include: ['model/**/*.test.ts', 'server/**/*.test.ts', 'test/**/*.test.ts', 'sdk/**/*.test.ts', 'web/**/*.test.ts'],
    globalSetup: ['test/harness/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: SlowFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Shared machines stall now and then; a test that fails three times in a row has found something.
    retry: process.env.CI === 'true' ? 2 : 0,
  },
})
