import { makeEventDispatcher } from '#areas/destinations/dispatcher'
import { accessLevelInDestination, accessLevelInOwnedDestination } from '#areas/destinations/rights'
import { destinationRoutes } from '#areas/destinations/routes'
import type { SendParts } from '#areas/destinations/send'
import type { DestinationParts } from '#areas/destinations/service'
import type { Config } from '#platform/config'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import type { Outgoing } from '#platform/outgoing/outgoing'
import type { Vault } from '#platform/secrets'

const KEPT_DAYS = 7
const AT_ONCE = 5_000

export type DestinationOptions = {
  config: Config
  db: Database
  vault: Vault
  log: Logger
  outgoing: Outgoing
  baseUrl(): string
  openCredential: SendParts['openCredential']
  checkDestinations: DestinationParts['checkDestinations']
}

/** Wires event destinations, and the dispatcher that sends events to them. */
export async function wireDestinations(options: DestinationOptions) {
  const { config, db } = options
  const dispatcher = makeEventDispatcher(options)
  if (config.role !== 'api') await dispatcher.start()
  return {
    routes: destinationRoutes(options),
    accessLevels: { destination: accessLevelInDestination, owned_destination: accessLevelInOwnedDestination },
    /** Deletes deliveries that ended long ago, in portions. */
    async maintain(): Promise<void> {
      for (let more = true; more; ) {
        const [row] = await db.maintain<{ forgotten: number }>('select forget_deliveries($1, $2) as forgotten', [
          KEPT_DAYS,
          AT_ONCE,
        ])
        more = row!.forgotten >= AT_ONCE
      }
    },
    stop: dispatcher.stop,
  }
}
