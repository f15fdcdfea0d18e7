import { join } from 'node:path'
import { describeCredential, kindsOfPresets } from '#areas/credentials/describe'
import type { Quota } from '#areas/executions/start'
import { checkServiceCredentials } from '#areas/services/credential-check'
import { makeServiceErrors } from '#areas/services/errors'
import { checkImportedCalls, makeFindImported, makeFindLock } from '#areas/services/imported'
import type { OpenFor } from '#areas/services/open-credential'
import { serviceRoutes } from '#areas/services/routes'
import { makeHookAddresses } from '#areas/triggers/hook-address'
import { makePoller } from '#areas/triggers/poller'
import { triggerRoutes } from '#areas/triggers/routes'
import type { Files } from '#engine/files'
import type { Definition } from '#model/definition'
import type { Issue } from '#model/issue'
import type { Config } from '#platform/config'
import type { Database, Tx } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import type { Outgoing } from '#platform/outgoing/outgoing'
import type { Vault } from '#platform/secrets'
import { makeWall } from '#platform/wall/wall'
import type { Conversion } from '#providers/conversion/index'
import { serviceCatalogue } from '#providers/services/catalogue'
import { makeNpmTurns } from '#providers/services/npm'
import { makeOpenApiCompiler } from '#providers/services/openapi/process'
import { makePieceRunner } from '#providers/services/pieces/runner'
import { makePieceSource } from '#providers/services/pieces/source'
import { makeProgramRunner } from '#providers/services/programs/runner'
import { makeProgramSource } from '#providers/services/programs/source'

export type ServicesOptions = {
  config: Config
  db: Database
  log: Logger
  quota: Quota
  outgoing: Outgoing
  conversion: Conversion
  files: Files
  openFor: OpenFor
  vault: Vault
  /** The address at which vendors reach this installation. */
  baseUrl(): string
}

/** Wires the catalogue of services, for editors and for the check of definitions. */
export function wireServices(options: ServicesOptions) {
  const { config, db, log, quota, outgoing, conversion, files, openFor, vault, baseUrl } = options
  const catalogue = serviceCatalogue()
  const check = { catalogue, describe: describeCredential, kindsOf: kindsOfPresets }
  const deps = { outgoing, conversion, files }
  const openapi = makeOpenApiCompiler()
  const wall = makeWall({ outgoing, level: config.HEDDLE_WALL, processes: config.HEDDLE_WALL_PROCESSES })
  const npmTurns = makeNpmTurns()
  const pieceSource = makePieceSource({
    folder: join(config.HEDDLE_DATA_DIR, 'pieces'),
    allowed: config.HEDDLE_PIECES,
    mirror: config.HEDDLE_PIECES_MIRROR,
    npmTurns,
  })
  const pieces = makePieceRunner({ wall, source: pieceSource })
  const programSource = makeProgramSource({
    folder: join(config.HEDDLE_DATA_DIR, 'programs'),
    allowed: config.HEDDLE_MCP_PACKAGES,
    mirror: config.HEDDLE_PIECES_MIRROR,
    npmTurns,
  })
  const programs = makeProgramRunner({ wall, source: programSource })
  const calls = { catalogue, deps, openFor, pieces, addresses: makeHookAddresses({ vault, baseUrl }) }
  const poller = makePoller({ db, log, quota, ...calls })
  const errors = makeServiceErrors({ db, log })
  return {
    /** For assistants: actions with a credential that a person may use. */
    use: {
      catalogue,
      openFor,
      findImported: makeFindImported(db),
      deps: { ...deps, pieces, programs, findLock: makeFindLock(db) },
    },
    routes: [
      ...serviceRoutes({ catalogue, deps, openFor, outgoing, openapi, pieces, pieceSource, programs, programSource }),
      ...triggerRoutes({ ...check, ...calls, db }),
    ],
    start: async (): Promise<void> => {
      if (config.role !== 'api') await poller.start()
    },
    async stop(): Promise<void> {
      await poller.stop()
      await openapi.close()
      await wall.close()
    },
    findImported: makeFindImported(db),
    findLock: makeFindLock(db),
    pieces,
    programs,
    /** Stopped after the engine, which records failures until it stops. */
    errors,
    checkDefinition: async (tx: Tx, workspaceId: string, definition: Definition): Promise<Issue[]> => [
      ...(await checkImportedCalls(tx, workspaceId, definition)),
      ...(await checkServiceCredentials(check, tx, workspaceId, definition)),
    ],
  }
}
