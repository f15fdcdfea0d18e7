import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { testFiles } from './test/harness/projects.ts'
import { SlowFirst } from './test/harness/slow-first.ts'

// Programs that tests start compile packages once for all of them.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'compiled')

const files = testFiles()
const withDatabase = {
  globalSetup: ['test/harness/global-setup.ts'],
  // Shared machines stall now and then; a test that fails three times in a row has found something.
  retry: process.env.CI === 'true' ? 2 : 0,
}

export default defineConfig({
  test: {
    projects: [
      // A process runs file after file and loads what they import once.
      { extends: true, test: { name: 'unit', include: files.unit, isolate: false } },
      { extends: true, test: { name: 'models', include: files.models } },
      { extends: true, test: { name: 'service', include: files.service, ...withDatabase } },
      { extends: true, test: { name: 'browser', include: files.browser, ...withDatabase } },
      {
        extends: true,
        test: { name: 'slow', include: files.slow, env: { HEDDLE_TEST_SLOW: '1' }, ...withDatabase },
      },
    ],
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: SlowFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
  },
})
