import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['model/**/*.test.ts', 'server/**/*.test.ts', 'test/**/*.test.ts', 'sdk/**/*.test.ts', 'web/**/*.test.ts'],
    globalSetup: ['test/harness/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
