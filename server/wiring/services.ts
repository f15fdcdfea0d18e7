import { describeCredential, kindsOfPresets } from '#areas/credentials/describe'
import { checkServiceCredentials } from '#areas/services/fits'
import type { OpenFor } from '#areas/services/options'
import { serviceRoutes } from '#areas/services/routes'
import type { Files } from '#engine/files'
import type { Definition } from '#model/definition'
import type { Issue } from '#model/issue'
import type { Tx } from '#platform/db/pool'
import type { Outgoing } from '#platform/outgoing/outgoing'
import type { Conversion } from '#providers/conversion/index'
import { serviceCatalogue } from '#providers/services/catalogue'

export type ServicesOptions = {
  outgoing: Outgoing
  conversion: Conversion
  files: Files
  openFor: OpenFor
}

/** The catalogue of services: what editors ask of it, and what saving a definition asks. */
export function wireServices({ outgoing, conversion, files, openFor }: ServicesOptions) {
  const catalogue = serviceCatalogue()
  const check = { catalogue, describe: describeCredential, kindsOf: kindsOfPresets }
  return {
    routes: serviceRoutes({ catalogue, deps: { outgoing, conversion, files }, openFor }),
    checkDefinition: (tx: Tx, workspaceId: string, definition: Definition): Promise<Issue[]> =>
      checkServiceCredentials(check, tx, workspaceId, definition),
  }
}
