import { test } from 'vitest'

/** Whether `npm run test:slow` runs, which has long rehearsals as a whole; `npm test` has short forms of them. */
export const isWhole = process.env.HEDDLE_TEST_SLOW === '1'

/** A part of a long rehearsal: `npm run test:slow` runs it, `npm test` runs only the rest of its file. */
export const slow = test.skipIf(!isWhole)
