import { test } from 'vitest'

/** A part of a long rehearsal: `npm run test:slow` runs it, `npm test` runs only the rest of its file. */
export const slow = test.skipIf(process.env.HEDDLE_TEST_SLOW !== '1')
