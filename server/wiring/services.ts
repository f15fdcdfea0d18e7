import { join } from 'node:path'
import { describeCredential, kindsOfPresets } from '#areas/credentials/describe'
import type { Quota } from '#areas/executions/start'
import { checkServiceCredentials } from '#areas/services/fits'
import { checkImportedCalls, makeFindImported } from '#areas/services/imported'
import type { OpenFor } from '#areas/services/opened'
import { serviceRoutes } from '#areas/services/routes'
import { makePoller } from '#areas/triggers/poller'
import { triggerRoutes } from '#areas/triggers/routes'
import type { Files } from '#engine/files'
import type { Definition } from '#model/definition'
import type { Issue } from '#model/issue'
import type { Config } from '#platform/config'
import type { Database, Tx } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import type { Outgoing } from '#platform/outgoing/outgoing'
import { makeWall } from '#platform/wall/wall'
import type { Conversion } from '#providers/conversion/index'
import { serviceCatalogue } from '#providers/services/catalogue'
import { makeOpenApiCompiler } from '#providers/services/openapi/process'
import { makePieceRunner } from '#providers/services/pieces/runner'
import { makePieceSource } from '#providers/services/pieces/source'

export type ServicesOptions = {
  config: Config
  db: Database
  log: Logger
  quota: Quota
  outgoing: Outgoing
  conversion: Conversion
  files: Files
  openFor: OpenFor
}

/** The catalogue of services: what editors ask of it, and what saving a definition asks. */
export function wireServices({ config, db, log, quota, outgoing, conversion, files, openFor }: ServicesOptions) {
  const catalogue = serviceCatalogue()
  const check = { catalogue, describe: describeCredential, kindsOf: kindsOfPresets }
  const deps = { outgoing, conversion, files }
  const openapi = makeOpenApiCompiler()
  const wall = makeWall({ outgoing, level: config.HEDDLE_WALL, processes: config.HEDDLE_WALL_PROCESSES })
  const pieceSource = makePieceSource({
    folder: join(config.HEDDLE_DATA_DIR, 'pieces'),
    allowed: config.HEDDLE_PIECES,
    mirror: config.HEDDLE_PIECES_MIRROR,
  })
  const pieces = makePieceRunner({ wall, source: pieceSource })
  const poller = makePoller({ db, log, catalogue, deps, openFor, quota, pieces })
  return {
    /** For assistants: actions with a credential that a person may use. */
    use: { catalogue, deps, openFor },
    routes: [
      ...serviceRoutes({ catalogue, deps, openFor, outgoing, openapi, pieces, pieceSource }),
      ...triggerRoutes(check),
    ],
    start: (): void => {
      if (config.role !== 'api') poller.start()
    },
    async stop(): Promise<void> {
      await poller.stop()
      await openapi.close()
      await wall.close()
    },
    findImported: makeFindImported(db),
    pieces,
    checkDefinition: async (tx: Tx, workspaceId: string, definition: Definition): Promise<Issue[]> => [
      ...(await checkImportedCalls(tx, workspaceId, definition)),
      ...(await checkServiceCredentials(check, tx, workspaceId, definition)),
    ],
  }
}
