import { madeSource } from './connections.ts'
import { type Cases, type Cast, rows, withChanges } from './matrix.ts'

/** Guests see no dataset, viewers read datasets, members change them. */
const reading = withChanges(rows.workspaceRead, { guest: 404 })
const changing = withChanges(rows.workspaceWrite, { guest: 404 })

async function dataset({ author }: Cast) {
  const { body } = await author.call('POST', '/api/datasets', { body: { name: 'Case', records: [{ a: 1 }] } })
  return { params: { dataset_id: body.dataset_id as string } }
}

export const datasetCases: Cases = {
  listDatasets: { expect: rows.selectedRead },
  createDataset: { expect: rows.selectedWrite, prepare: async () => ({ body: { name: 'Made', records: [] } }) },
  importDataset: {
    expect: rows.selectedWrite,
    prepare: async () => {
      const raw = new FormData()
      raw.set('file', new Blob(['a\n1\n']), 'a.csv')
      return { raw }
    },
  },
  captureDataset: {
    // For a caller from another workspace, the source does not exist.
    expect: withChanges(rows.selectedWrite, { stranger: 422, operator: 422 }),
    prepare: async (cast) => ({ body: { source_id: await madeSource(cast, 'capture') } }),
    afterFirst: { body: {} },
  },
  getDataset: { expect: reading, prepare: dataset },
  updateDataset: {
    expect: changing,
    prepare: async (cast) => ({ ...(await dataset(cast)), body: { name: 'Renamed' } }),
  },
  deleteDataset: { expect: changing, prepare: dataset },
  listRecords: { expect: reading, prepare: dataset },
  exportDataset: { expect: reading, prepare: async (cast) => ({ ...(await dataset(cast)), query: '?format=csv' }) },
}
