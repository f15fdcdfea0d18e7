import { describeCredential, kindsOfPresets } from '#areas/credentials/describe'
import type { Quota } from '#areas/executions/start'
import { checkServiceCredentials } from '#areas/services/fits'
import { checkImportedCalls, makeFindImported } from '#areas/services/imported'
import type { OpenFor } from '#areas/services/options'
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
import type { Conversion } from '#providers/conversion/index'
import { serviceCatalogue } from '#providers/services/catalogue'
import { makeOpenApiCompiler } from '#providers/services/openapi/process'

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
  const poller = makePoller({ db, log, catalogue, deps, openFor, quota })
  return {
    /** For assistants: actions with a credential that a person may use. */
    use: { catalogue, deps, openFor },
    routes: [...serviceRoutes({ catalogue, deps, openFor, outgoing, openapi }), ...triggerRoutes(check)],
    start: (): void => {
      if (config.role !== 'api') poller.start()
    },
    async stop(): Promise<void> {
      await poller.stop()
      await openapi.close()
    },
    findImported: makeFindImported(db),
    checkDefinition: async (tx: Tx, workspaceId: string, definition: Definition): Promise<Issue[]> => [
      ...(await checkImportedCalls(tx, workspaceId, definition)),
      ...(await checkServiceCredentials(check, tx, workspaceId, definition)),
    ],
  }
}
