import type { Database } from '#platform/db/pool'
import { claimStatements } from './claim-store.ts'
import { heartbeatStatements } from './heartbeat-store.ts'
import { startStatements } from './start-store.ts'
import { waitStatements } from './wait-store.ts'

export const makeStore = (db: Pick<Database, 'enginePool' | 'beatPool' | 'isPooled'>) => ({
  ...heartbeatStatements(db),
  ...claimStatements(db),
  ...startStatements(db),
  ...waitStatements(db),
})

export type Store = ReturnType<typeof makeStore>
