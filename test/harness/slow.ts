import { test } from 'vitest'

/** Whether this is `npm run test:slow`, which runs long test scenarios in full; `npm test` runs short forms of them. */
export const isSlowRun = process.env.HEDDLE_TEST_SLOW === '1'

/** A test that only `npm run test:slow` runs; `npm test` runs the other tests of the file. */
export const slow = test.skipIf(!isSlowRun)
