import { makeExecuteWarehouse, makeQueryWarehouse } from '#areas/connections/node'
import { connectionRoutes } from '#areas/connections/routes'
import {
  accessLevelInConnection,
  accessLevelInSource,
  type JobHooks,
  makeConnections,
} from '#areas/connections/service'
import { makeConnectionUse } from '#areas/connections/using'
import { makeProfiling } from '#areas/datasets/profiling'
import { datasetRoutes } from '#areas/datasets/routes'
import { accessLevelInDataset, makeDatasets } from '#areas/datasets/service'
import { makeDatasetUse } from '#areas/datasets/use'
import type { ReferenceCheck } from '#areas/workflows/definition-check'
import { makeDatasetProfile } from '#engine/nodes/dataset-profile'
import { makeDatasetRead } from '#engine/nodes/dataset-read'
import { makeDatasetWrite } from '#engine/nodes/dataset-write'
import type { AnyKind } from '#engine/nodes/kind'
import { makeWarehouseExecute } from '#engine/nodes/warehouse-execute'
import { makeWarehouseQuery } from '#engine/nodes/warehouse-query'
import type { AccessLevelFinders } from '#platform/access/check'
import type { Config } from '#platform/config'
import type { Database } from '#platform/db/pool'
import type { AnyRoute } from '#platform/http/route'
import type { Logger } from '#platform/log'
import type { Vault } from '#platform/secrets'
import { sweepDuckdbFiles } from '#providers/warehouse/duckdb-files'
import { duckdbDirectory, makeWarehouses } from '#providers/warehouse/warehouses'
import { exists } from './reference-checks.ts'

export type DataOptions = {
  config: Config
  db: Database
  vault: Vault
  log: Logger
  jobs?: JobHooks
}

const noJobs: JobHooks = { pauseJobsUsing: async () => {}, resumeJobsUsing: async () => {} }

/** Wires datasets and connections, and what the engine and the jobs need from them. */
export function wireData({ config, db, vault, log, jobs = noJobs }: DataOptions) {
  const { warehouses, close: closeWarehouses } = makeWarehouses({
    allowTargets: config.HEDDLE_ALLOW_TARGETS,
    dataDir: config.HEDDLE_DATA_DIR,
    processes: config.HEDDLE_WAREHOUSE_PROCESSES,
    duckdbProcesses: config.HEDDLE_DUCKDB_PROCESSES,
  })
  const connectionUse = makeConnectionUse({ db, vault, warehouses })
  const datasetUse = makeDatasetUse({ db })
  const connections = makeConnections({ use: connectionUse, warehouses, jobs })
  const datasets = makeDatasets({ db, vault, log, readSource: connections.readSource })
  const routes: AnyRoute[] = [...datasetRoutes(datasets), ...connectionRoutes(connections)]
  const accessLevels: AccessLevelFinders = {
    dataset: accessLevelInDataset,
    connection: accessLevelInConnection,
    source: accessLevelInSource,
  }
  const kinds: AnyKind[] = [
    makeDatasetRead(datasetUse),
    makeDatasetWrite(datasetUse),
    makeDatasetProfile({ profileDataset: makeProfiling({ db, use: datasetUse }) }),
    makeWarehouseQuery({ queryWarehouse: makeQueryWarehouse(connectionUse) }),
    makeWarehouseExecute({ executeWarehouse: makeExecuteWarehouse(connectionUse) }),
  ]
  return {
    /** For jobs and suites: records, fingerprints, new datasets. */
    datasetUse,
    /** For jobs: rows of a connection, as a stream. */
    connectionUse,
    connections,
    routes,
    accessLevels,
    kinds,
    references,
    /** Deletes the DuckDB files of deleted workspaces. */
    maintain: () =>
      sweepDuckdbFiles(duckdbDirectory(config.HEDDLE_DATA_DIR), async (ids) => {
        const { rows } = await db.appPool.query<{ workspace_id: string }>(
          'select workspaces_among as workspace_id from workspaces_among($1)',
          [ids],
        )
        return rows.map(({ workspace_id }) => workspace_id)
      }),
    async stop(): Promise<void> {
      await Promise.all([datasets.stop(), closeWarehouses()])
    },
  }
}

/** The ids that a definition may name. They are checked when it is saved, and looked up again when it runs. */
const references: ReadonlyMap<string, ReferenceCheck> = new Map([
  ['ds', exists('ds', 'select from datasets where workspace_id = $1 and dataset_id = $2')],
  ['conn', exists('conn', 'select from connections where workspace_id = $1 and connection_id = $2')],
  ['src', exists('src', 'select from sources where workspace_id = $1 and source_id = $2')],
])
