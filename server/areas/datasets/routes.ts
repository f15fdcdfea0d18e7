import { member, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { jsonObject, page } from '#platform/http/schema'
import {
  Capture,
  Dataset,
  DatasetPatch,
  DatasetWithRecords,
  datasetList,
  ExportQuery,
  ImportForm,
  ImportQuery,
  NewDataset,
  RecordsQuery,
} from './schema.ts'
import type { Datasets } from './service.ts'

const location = ({ dataset_id }: Record<string, string>): string => `/api/datasets/${dataset_id}`

export const datasetRoutes = (datasets: Datasets): AnyRoute[] =>
  routes(
    'Datasets',
    {
      listDatasets: ['GET', '/api/datasets', viewer('workspace')],
      createDataset: ['POST', '/api/datasets', member('workspace')],
      captureDataset: ['POST', '/api/datasets/capture', member('workspace')],
      importDataset: ['POST', '/api/datasets/import', member('workspace')],
      getDataset: ['GET', '/api/datasets/:dataset_id', viewer('dataset')],
      updateDataset: ['PATCH', '/api/datasets/:dataset_id', member('dataset')],
      deleteDataset: ['DELETE', '/api/datasets/:dataset_id', member('dataset')],
      listRecords: ['GET', '/api/datasets/:dataset_id/records', viewer('dataset')],
      exportDataset: ['GET', '/api/datasets/:dataset_id/export', viewer('dataset')],
    },
    {
      listDatasets: {
        summary: 'Workspace datasets, summaries only (no records)',
        query: datasetList.query,
        answer: page(Dataset),
        run: datasets.listDatasets,
      },
      createDataset: {
        summary: 'Create a dataset; sha256 and record_count are computed by the service',
        description:
          'The records are checked as they come in, at most 64 MiB. The answer is the summary, without records.',
        bodyKind: 'stream',
        consumes: ['application/json'],
        bodyLimit: 'dataset',
        body: NewDataset,
        answer: Dataset,
        status: 201,
        location,
        transaction: false,
        idempotency: 'own',
        examples: { body: { name: 'Leads', records: [{ email: 'ada@example.com', score: 7 }] } },
        run: datasets.createDataset,
      },
      captureDataset: {
        summary: 'Snapshot an attached source into a new dataset',
        body: Capture,
        answer: Dataset,
        status: 201,
        location,
        transaction: false,
        idempotency: 'own',
        run: datasets.captureDataset,
      },
      importDataset: {
        summary: 'Import a CSV or JSON file as a dataset',
        description:
          'multipart/form-data with `file` (CSV with a header row, a JSON array, or JSON Lines; gzip accepted) and optionally `name` and `description`. The format is detected from the content.',
        bodyKind: 'stream',
        consumes: ['multipart/form-data'],
        described: { form: ImportForm },
        bodyLimit: 'import',
        query: ImportQuery,
        answer: Dataset,
        status: 201,
        location,
        transaction: false,
        idempotency: 'own',
        run: datasets.importDataset,
      },
      getDataset: {
        summary: 'One dataset with its records, as a stream',
        answer: DatasetWithRecords,
        transaction: false,
        run: datasets.getDataset as never,
      },
      updateDataset: {
        summary: 'Change the name or description, or replace the records, which changes the fingerprint',
        description:
          'Executions that used the old fingerprint fail with `dataset_changed` when they read the dataset again. The answer is the summary, without records.',
        bodyKind: 'stream',
        consumes: ['application/json'],
        bodyLimit: 'dataset',
        body: DatasetPatch,
        answer: Dataset,
        current: datasets.currentDataset,
        transaction: false,
        run: datasets.updateDataset,
      },
      deleteDataset: {
        summary: 'Delete a dataset; jobs and suites that use it stay, without a dataset',
        status: 204,
        current: datasets.currentDataset,
        transaction: false,
        run: datasets.deleteDataset,
      },
      listRecords: {
        summary: 'The records of a dataset, page by page, in order',
        extension: true,
        query: RecordsQuery,
        answer: page(jsonObject()),
        transaction: false,
        run: datasets.listRecords,
      },
      exportDataset: {
        summary: 'The records as a file',
        description: 'In CSV, texts that a spreadsheet would run as a formula get a leading apostrophe.',
        extension: true,
        query: ExportQuery,
        produces: ['text/csv', 'application/x-ndjson'],
        transaction: false,
        run: datasets.exportDataset as never,
      },
    },
  )
