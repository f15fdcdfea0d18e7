import { z } from 'zod'
import { anyone, member, viewer } from '#platform/access/rules'
import type { Context } from '#platform/http/context'
import { type AnyRoute, type Exchange, routes } from '#platform/http/route'
import { filePart } from '#platform/http/schema'
import type { FileParts } from './keeping.ts'
import type { DownloadLinks } from './links.ts'
import { FileLink, FileValue, uploadQuery } from './schema.ts'
import { downloadByLink, downloadFile, linkToFile, uploadFile } from './transfer.ts'

export const fileRoutes = (parts: FileParts & { links: DownloadLinks; baseUrl(): string }): AnyRoute[] =>
  routes(
    'Files',
    {
      uploadFile: ['POST', '/api/files', member('workspace')],
      downloadFile: ['GET', '/api/files/:file_id', viewer('file')],
      createFileLink: ['POST', '/api/files/:file_id/link', viewer('file')],
      downloadByLink: ['GET', '/files/:file_id/:grant', anyone],
    },
    {
      uploadFile: {
        summary: 'Upload a file that the input of a run can name',
        description:
          'The body is the file itself, or multipart/form-data with the part `file`. The answer is the value to put into the input of a run. An execution that uses the file keeps it as long as the execution is stored; an unused file is deleted after a day. Its bytes count towards the storage of the plan.',
        extension: true,
        query: uploadQuery,
        bodyKind: 'stream',
        bodyLimit: 'file',
        // A code generator produces code that does not compile if a body is either bytes or a form. The description
        // names both.
        consumes: ['multipart/form-data'],
        described: { form: z.object({ file: filePart() }) },
        answer: FileValue,
        status: 201,
        location: (answer) => `/api/files/${(answer as unknown as z.output<typeof FileValue>).$file.file_id}`,
        transaction: false,
        idempotency: 'none',
        run: (ctx: Context, input: { name?: string | undefined }, exchange: Exchange) =>
          uploadFile(parts, ctx, input, exchange),
      },
      downloadFile: {
        summary: 'The bytes of a file',
        description:
          'For the person who uploaded it, and for anyone who may read an execution that received or created it. `Range` is supported. It is sent as a download, and with its media type only if a browser would not execute it.',
        extension: true,
        produces: ['*/*'],
        alsoStatus: [206],
        alsoRefuses: [416],
        transaction: false,
        run: (ctx, input, exchange) => downloadFile(parts, ctx, input, exchange),
      },
      createFileLink: {
        summary: 'A signed address with which anyone can read the file for a week',
        extension: true,
        answer: FileLink,
        status: 201,
        location: ({ url }) => new URL(url as string).pathname,
        run: (ctx, input) => linkToFile(parts, ctx, input),
      },
      downloadByLink: {
        summary: 'The bytes of a file, by a signed address',
        description: 'Used in conversations with people without an account. It expires after a week.',
        extension: true,
        produces: ['*/*'],
        alsoStatus: [206],
        alsoRefuses: [401, 416],
        transaction: false,
        run: (ctx, input, exchange) => downloadByLink(parts, ctx, input, exchange),
      },
    },
  )
