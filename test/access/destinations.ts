import { newId, toWire } from '#platform/ids'
import { type Cases, type Cast, rows, withChanges } from './matrix.ts'

// A destination belongs to the person who created it. Owners of the workspace can see every destination, change it
// (which makes them its owner) and delete it. Only its owner sees its deliveries and its secret.

const managed = withChanges(rows.hiddenOwnerOnly, { workspaceOwner: 'ok', resourceViewer: 404, resourceMember: 404 })
const own = withChanges(rows.hiddenOwnerOnly, { workspaceOwner: 403, resourceViewer: 404, resourceMember: 404 })

const newDestination = { url: 'https://receiver.invalid/events', event_types: ['execution.*'] }

/** Deletes all but the newest ten destinations first, because a workspace can have at most twenty. */
async function destination({ author, workspace, service }: Cast) {
  await service.sql(
    `delete from event_destinations where destination_id in (
       select destination_id from event_destinations where workspace_id = $1 order by destination_id desc offset 10)`,
    [workspace.uuid],
  )
  const { body } = await author.call('POST', '/api/event-destinations', { body: newDestination })
  return { params: { destination_id: body.destination_id as string } }
}

/** Prepares a destination with an event whose delivery was given up. */
async function delivery(cast: Cast) {
  const { params } = await destination(cast)
  const delivery_id = newId()
  await cast.service.sql(
    `insert into event_deliveries (workspace_id, destination_id, delivery_id, type, event_at, data, status, head)
     select workspace_id, destination_id, $2, 'audit.recorded', now(), '{}', 'failed', true from event_destinations
     where workspace_id = $1 order by destination_id desc limit 1`,
    [cast.workspace.uuid, delivery_id],
  )
  return { params: { ...params, delivery_id: toWire('dlv', delivery_id) } }
}

export const destinationCases: Cases = {
  listDestinations: { expect: rows.selectedRead },
  createDestination: { expect: rows.selectedWrite, prepare: async () => ({ body: newDestination }) },
  getDestination: { expect: managed, prepare: destination },
  updateDestination: {
    expect: managed,
    prepare: async (cast) => ({ ...(await destination(cast)), body: { enabled: false } }),
  },
  deleteDestination: { expect: managed, prepare: destination },
  rotateDestinationSecret: { expect: own, prepare: destination },
  testDestination: { expect: own, prepare: destination },
  listDeliveries: { expect: own, prepare: destination },
  redeliverEvent: { expect: own, prepare: delivery },
}
