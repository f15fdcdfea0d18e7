import { type Cases, type Cast, rows } from './matrix.ts'

const upload = async ({ author }: Cast) => {
  const { body } = await author.call('POST', '/api/files?name=a.txt', {
    raw: Buffer.from('hello'),
    headers: { 'content-type': 'text/plain' },
  })
  return { params: { file_id: body.$file.file_id as string } }
}

export const fileCases: Cases = {
  uploadFile: {
    expect: rows.selectedWrite,
    prepare: async () => ({ raw: Buffer.from('hello'), headers: { 'content-type': 'text/plain' } }),
  },
  // A file that no execution uses is visible only to the person who uploaded it.
  downloadFile: { expect: rows.ownOnly, prepare: upload },
  createFileLink: { expect: rows.ownOnly, prepare: upload },
  downloadByLink: {
    expect: rows.anyone,
    prepare: async (cast) => {
      const { params } = await upload(cast)
      const { body } = await cast.author.call('POST', `/api/files/${params.file_id}/link`)
      const [file_id, grant] = new URL(body.url).pathname.split('/').slice(2)
      return { params: { file_id: file_id!, grant: grant! } }
    },
    plainParameters: ['file_id', 'grant'],
  },
}
