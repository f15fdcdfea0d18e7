import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { SlowFirst } from './test/harness/slow-first.ts'

// Each test file has a process of its own: packages are compiled once for all of them.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'compiled')

export default defineConfig({
  test: {
    include: ['model/**/*.test.ts', 'server/**/*.test.ts', 'test/**/*.test.ts', 'sdk/**/*.test.ts', 'web/**/*.test.ts'],
    globalSetup: ['test/harness/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: SlowFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
    // Shared machines stall now and then; a test that fails three times in a row has found something.
    retry: process.env.CI === 'true' ? 2 : 0,
  },
})
