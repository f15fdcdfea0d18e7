import { datasetRoutes } from '#areas/datasets/routes'
import { makeDatasets, standingInDataset } from '#areas/datasets/service'
import type { Standings } from '#platform/access/check'
import type { Config } from '#platform/config'
import type { Database } from '#platform/db/pool'
import { unknownReference } from '#platform/errors'
import type { AnyRoute } from '#platform/http/route'
import type { Logger } from '#platform/log'
import type { Vault } from '#platform/secrets'

export type DataOptions = { config: Config; db: Database; vault: Vault; log: Logger }

/** Datasets and connections, and what the engine and the jobs need of them. */
export function wireData({ db, vault, log }: DataOptions) {
  const datasets = makeDatasets({
    db,
    vault,
    log,
    readSource: () => Promise.reject(unknownReference('/source_id')),
  })
  const routes: AnyRoute[] = [...datasetRoutes(datasets)]
  const standings: Standings = { dataset: standingInDataset }
  return {
    datasets,
    routes,
    standings,
    stop(): void {
      datasets.stop()
    },
  }
}
