import { operations } from '#sdk/operations.generated'
import { HeddleProblem } from '#sdk/problems'
import type { Dataset } from '#sdk/types.generated'
import { api, newKey } from '#web/api.ts'
import { t } from '#web/words/language.ts'

export type Upload = { done: Promise<Dataset>; cancel(): void }

/**
 * Runs the import operation with progress: `fetch` does not report how much of a body has been sent, XMLHttpRequest
 * does. The address and the errors are the SDK's own.
 */
export function importFile(body: FormData, infer: boolean, onProgress: (sent: number, total: number) => void): Upload {
  const request = new XMLHttpRequest()
  const [method, path] = operations.importDataset
  const done = new Promise<Dataset>((resolve, reject) => {
    request.open(method, `${path}?infer=${infer}`)
    request.responseType = 'json'
    if (api.options.workspaceId) request.setRequestHeader('x-workspace-id', api.options.workspaceId)
    request.setRequestHeader('idempotency-key', newKey())
    request.upload.onprogress = ({ loaded, total }) => onProgress(loaded, total)
    request.onload = () => {
      if (request.status === 201) resolve(request.response as Dataset)
      else reject(new HeddleProblem(request.status, (request.response ?? {}) as Record<string, never>, null))
    }
    request.onerror = () => reject(new TypeError(t('the connection was lost')))
    request.onabort = () => reject(new UploadCancelled())
    request.send(body)
  })
  return { done, cancel: () => request.abort() }
}

export class UploadCancelled extends Error {}
