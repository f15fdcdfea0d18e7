import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { testFiles } from './test/harness/projects.ts'
import { SlowFirst } from './test/harness/slow-first.ts'

// Test workers and the programs that tests start share one compile cache, so that each file is compiled once.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'compiled')

const files = testFiles()
const isRun = process.argv.includes('run')
/** One process runs several test files and loads the program once. A test file that leaves something behind fails. */
const shared = { isolate: false, setupFiles: ['test/harness/left-behind.ts'] }
/** Node.js runs the program and its tests untransformed, as in production, so modules cannot be mocked. */
const native = { experimental: { viteModuleRunner: false, nodeLoader: false } }
const withDatabase = { globalSetup: ['test/harness/global-setup.ts'] }
/** Test files share one service and one browser, which end with the process. */
const withBrowser = { ...native, isolate: false, ...withDatabase }
const whole = { HEDDLE_TEST_SLOW: '1' }

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'unit', include: files.unit, ...native, ...shared } },
      { extends: true, test: { name: 'console', include: files.console, isolate: false } },
      { extends: true, test: { name: 'models', include: files.models, ...native } },
      { extends: true, test: { name: 'service', include: files.service, ...native, ...shared, ...withDatabase } },
      { extends: true, test: { name: 'browser', include: files.browser, ...withBrowser } },
      { extends: true, test: { name: 'journeys', include: files.journeys, env: whole, ...withBrowser } },
      { extends: true, test: { name: 'slow', include: files.slow, env: whole, ...native, ...withDatabase } },
    ],
    pool: 'forks',
    execArgv: isRun ? ['--import', join(import.meta.dirname, 'test', 'harness', 'untracked-imports.ts')] : [],
    // Service tests spend about half of their time waiting for timers and processes.
    maxWorkers: Math.max(4, availableParallelism()),
    sequence: { sequencer: SlowFirst },
    // A test that takes longer hangs. Tests take seconds, but the machine may be busy.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
