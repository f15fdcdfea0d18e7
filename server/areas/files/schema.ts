import { z } from 'zod'
import { id, timestamp } from '#platform/http/schema'

export const FileFacts = z.object({
  file_id: id('file'),
  name: z.string(),
  media_type: z.string(),
  bytes: z.int(),
  sha256: z.string(),
})

export const FileValue = z.object({ $file: FileFacts }).meta({ id: 'FileValue' })

export const uploadQuery = z.strictObject({
  name: z.string().min(1).max(255).optional().describe('Name of the file, if the body is the file itself'),
})

export const FileLink = z.object({ url: z.url(), expires_at: timestamp() }).meta({ id: 'FileLink' })
