import { createReadStream } from 'node:fs'
import { request } from 'node:http'
import { pipeline } from 'node:stream/promises'

export type ImportedDataset = { dataset_id: string; sha256: string; record_count: number }

/** Imports a file as a dataset and sends it while it is read. */
export async function importFile(
  { base, key }: { base: URL | string; key: string },
  file: string,
): Promise<ImportedDataset> {
  const boundary = 'heddle-bench-boundary'
  const upload = request(new URL('/api/datasets/import', base), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
  })
  const answered = new Promise<string>((resolve, reject) => {
    upload.once('error', reject)
    upload.once('response', async (answer) => {
      let text = ''
      for await (const part of answer) text += part
      if (answer.statusCode === 201) resolve(text)
      else reject(new Error(`status ${answer.statusCode}: ${text}`))
    })
  })
  upload.write(`--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="records.csv"\r\n\r\n`)
  await pipeline(createReadStream(file, { highWaterMark: 256 << 10 }), upload, { end: false })
  upload.end(`\r\n--${boundary}--\r\n`)
  return JSON.parse(await answered) as ImportedDataset
}
