import { type Cases, rows } from './matrix.ts'

/** Anyone who may ask learns that there are no such choices. */
const asking = Object.fromEntries(
  Object.entries(rows.selectedWrite).map(([kind, expected]) => [kind, expected === 'ok' ? 422 : expected]),
) as typeof rows.selectedWrite

const service = async () => ({ params: { service: 'rss' } })

export const serviceCases: Cases = {
  listServices: { expect: rows.signedIn },
  getService: { expect: rows.signedIn, prepare: service, plainParameters: ['service'] },
  listServiceOptions: {
    expect: asking,
    prepare: async () => ({ params: { service: 'rss' }, body: { options: 'nothing' } }),
    plainParameters: ['service'],
  },
}
