import type { Database } from '#platform/db/pool'
import { beatStatements } from './beat-store.ts'
import { claimStatements } from './claim-store.ts'
import { startStatements } from './start-store.ts'
import { waitStatements } from './wait-store.ts'

export const makeStore = (db: Pick<Database, 'enginePool' | 'beatPool'>) => ({
  ...beatStatements(db),
  ...claimStatements(db),
  ...startStatements(db),
  ...waitStatements(db),
})

export type Store = ReturnType<typeof makeStore>
