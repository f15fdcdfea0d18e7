import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { testFiles } from './test/harness/projects.ts'
import { SlowFirst } from './test/harness/slow-first.ts'

// Workers, and programs that tests start, compile a file once for all of them.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'compiled')

const files = testFiles()
const isRun = process.argv.includes('run')
/** A process runs file after file and loads the program once. A file that leaves something behind in it fails. */
const shared = { isolate: false, setupFiles: ['test/harness/left-behind.ts'] }
/** Node runs the program and its tests as they are, as in production: nothing is transformed, nothing can be mocked. */
const native = { experimental: { viteModuleRunner: false, nodeLoader: false } }
const withDatabase = { globalSetup: ['test/harness/global-setup.ts'] }
/** Files share a service and a browser, which end with the process. */
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
    // Service tests wait for timers and processes about half of their time.
    maxWorkers: Math.max(4, availableParallelism()),
    sequence: { sequencer: SlowFirst },
    // What takes longer hangs. A test takes seconds, but the machine may be busy with ten other things.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
