import { connectionRoutes } from '#areas/connections/routes'
import { type JobHooks, makeConnections, standingInConnection, standingInSource } from '#areas/connections/service'
import { makeConnectionUse } from '#areas/connections/using'
import { datasetRoutes } from '#areas/datasets/routes'
import { makeDatasets, standingInDataset } from '#areas/datasets/service'
import type { Standings } from '#platform/access/check'
import type { Config } from '#platform/config'
import type { Database } from '#platform/db/pool'
import type { AnyRoute } from '#platform/http/route'
import type { Logger } from '#platform/log'
import { makeOutgoing } from '#platform/outgoing/outgoing'
import type { Vault } from '#platform/secrets'
import { makeWarehouses } from '#providers/warehouse/warehouses'

export type DataOptions = { config: Config; db: Database; vault: Vault; log: Logger; jobs?: JobHooks }

const noJobs: JobHooks = { pauseJobsUsing: async () => [], resumeJobsUsing: async () => [] }

/** Datasets and connections, and what the engine and the jobs need of them. */
export function wireData({ config, db, vault, log, jobs = noJobs }: DataOptions) {
  const outgoing = makeOutgoing({ allowTargets: config.HEDDLE_ALLOW_TARGETS })
  const warehouses = makeWarehouses({ outgoing, dataDir: config.HEDDLE_DATA_DIR })
  const use = makeConnectionUse({ db, vault, warehouses })
  const connections = makeConnections({ use, warehouses, jobs })
  const datasets = makeDatasets({ db, vault, log, readSource: connections.readSource })
  const routes: AnyRoute[] = [...datasetRoutes(datasets), ...connectionRoutes(connections)]
  const standings: Standings = {
    dataset: standingInDataset,
    connection: standingInConnection,
    source: standingInSource,
  }
  return {
    datasets,
    connections,
    queryConnection: use.queryConnection,
    routes,
    standings,
    async stop(): Promise<void> {
      datasets.stop()
      await outgoing.close()
    },
  }
}
