import { type Cases, type Cast, rows, withChanges } from './matrix.ts'

/** Every caller who may ask gets 422, because the service has no such options. */
const asking = Object.fromEntries(
  Object.entries(rows.selectedWrite).map(([kind, expected]) => [kind, expected === 'ok' ? 422 : expected]),
) as typeof rows.selectedWrite

/** Every caller who may ask gets 404, because only pieces can check a credential. */
const nothingToTry = Object.fromEntries(
  Object.entries(rows.selectedWrite).map(([kind, expected]) => [kind, expected === 'ok' ? 404 : expected]),
) as typeof rows.selectedWrite

/** Every caller gets 404, because no registration at a vendor has this address. */
const nobodys = Object.fromEntries(
  Object.entries(rows.anyone).map(([kind, expected]) => [kind, expected === 'ok' ? 404 : expected]),
) as typeof rows.anyone

const service = async () => ({ params: { service: 'rss' } })

const document = {
  openapi: '3.0.0',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'https://shop.invalid' }],
  paths: { '/orders': { get: { operationId: 'listOrders', responses: {} } } },
}
let made = 0
const newImport = async () => {
  made += 1
  return { body: { name: `shop_${made}`, document } }
}

/** Deletes earlier imports first, because a workspace can import at most fifty services. */
async function imported({ author, workspace, service: running }: Cast) {
  await running.sql('delete from imported_services where workspace_id = $1', [workspace.uuid])
  const { body } = await author.call('POST', '/api/services/import', await newImport())
  return { params: { service: body.service as string } }
}

export const serviceCases: Cases = {
  receiveServiceEvent: {
    expect: nobodys,
    prepare: async () => ({ params: { hook: 'nothing' }, body: {} }),
    plainParameters: ['hook'],
  },
  answerServiceHandshake: {
    expect: nobodys,
    prepare: async () => ({ params: { hook: 'nothing' } }),
    plainParameters: ['hook'],
  },
  importService: { expect: rows.selectedWrite, prepare: newImport, afterFirst: { body: { name: 'shop' } } },
  previewServiceImport: { expect: rows.selectedWrite, prepare: newImport, afterFirst: { body: { name: 'shop' } } },
  // Everyone in the workspace may call the service; only its creator and the owners of the workspace may change it.
  deleteService: {
    expect: withChanges(rows.workspaceWrite, { member: 403, resourceViewer: 403, resourceMember: 403 }),
    prepare: imported,
    plainParameters: ['service'],
  },
  listServices: { expect: rows.signedIn },
  getService: { expect: rows.signedIn, prepare: service, plainParameters: ['service'] },
  listServiceCredentials: { expect: rows.selectedRead, prepare: service, plainParameters: ['service'] },
  listServiceErrors: { expect: rows.selectedRead, prepare: service, plainParameters: ['service'] },
  listServiceOptions: {
    expect: asking,
    prepare: async () => ({ params: { service: 'rss' }, body: { options: 'nothing' } }),
    plainParameters: ['service'],
  },
  testServiceCredential: {
    expect: nothingToTry,
    prepare: async () => ({ params: { service: 'rss' }, body: { credential_id: 'cred_01kf3v6h2he3wtpk1fw5c0wz9d' } }),
    plainParameters: ['service'],
  },
}
