import { fromWire, newId, toWire } from '#platform/ids'
import { freshEmail } from '#test/harness/browser'
import { makeTemplate, makeToken, visit } from '#test/harness/widget'
import { type Cases, type Cast, type Expected, type Prepared, rows, withChanges } from './matrix.ts'

/** Creates a thread that the author owns, with a member and a viewer. */
async function makeThread({ author, resourceMember, resourceViewer }: Cast): Promise<string> {
  const { body, text } = await author.call('POST', '/api/chat-thread', { body: { title: 'Case' } })
  if (!body?.thread_id) throw new Error(text)
  for (const [person, role] of [
    [resourceMember, 'member'],
    [resourceViewer, 'viewer'],
  ] as const)
    if (person.id !== author.id)
      await author.call('POST', `/api/chat-thread/${body.thread_id}/invite`, { body: { email: person.email, role } })
  return body.thread_id
}

const thread = async (cast: Cast): Promise<Prepared> => ({ params: { thread_id: await makeThread(cast) } })
const withBody =
  (body: () => unknown) =>
  async (cast: Cast): Promise<Prepared> => ({ ...(await thread(cast)), body: body() })
const viewerOf = async (cast: Cast): Promise<Prepared> => ({
  params: { thread_id: await makeThread(cast), user_id: cast.resourceViewer.id },
})

let spoken: Buffer | undefined
async function speech({ author, service }: Cast, threadId: string): Promise<Buffer> {
  if (spoken) return spoken
  const answer = await fetch(`${service.base}/api/chat-thread/${threadId}/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${author.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'Good morning to you.', format: 'wav' }),
  })
  spoken = Buffer.from(await answer.arrayBuffer())
  return spoken
}

async function clip(cast: Cast): Promise<Prepared> {
  const threadId = await makeThread(cast)
  const audioId = newId()
  await cast.service.sql(
    `insert into audio_clips (workspace_id, audio_id, thread_id, content_type, size_bytes, duration_s, message_id)
     select workspace_id, $2, thread_id, 'audio/wav', 1, 1, $2 from threads where thread_id = $1`,
    [fromWire('thr', threadId), audioId],
  )
  return { params: { thread_id: threadId, audio_id: toWire('aud', audioId) } }
}

async function signedAddress(cast: Cast): Promise<Prepared> {
  const threadId = await makeThread(cast)
  const raw = new FormData()
  raw.set('text', 'Listen')
  raw.set('audio', new Blob([(await speech(cast, threadId)) as BlobPart]), 'clip')
  const { body } = await cast.author.call('POST', `/api/chat-thread/${threadId}/messages`, { raw })
  const { body: playback } = await cast.author.call('GET', `/api/chat-thread/${threadId}/audio/${body.audio_id}`)
  return { params: { audio_id: body.audio_id, grant: playback.url.split('/').at(-1) } }
}

/**
 * Prepares a message from a visitor of the author's template. The other people of the cast have no role in this
 * template.
 */
export async function visited({ author, service }: Cast): Promise<Prepared> {
  const template = await makeTemplate(author, [])
  const { token } = await makeToken(author, `/api/templates/${template}`)
  const { body } = await (await visit(service, template, token)).chat('Hello')
  return { params: { thread_id: body.thread_id } }
}
export const answeredFor: Expected = withChanges(rows.ownOnly, { workspaceOwner: 'ok' })

export const threadCases: Cases = {
  // Guests may call it too: they see the threads that they were invited to.
  listThreads: { expect: rows.signedIn },
  createThread: { expect: rows.selectedWrite, prepare: async () => ({ body: { title: 'Case' } }) },
  getThread: { expect: rows.hiddenAnyMember, prepare: thread },
  listThreadMessages: { expect: rows.hiddenAnyMember, prepare: thread },
  postThreadMessage: { expect: rows.hiddenOwnerOrMember, prepare: withBody(() => ({ text: 'Hello' })) },
  // The form does not exist; that is checked only after the access check.
  actOnThreadForm: {
    expect: withChanges(rows.hiddenOwnerOrMember, { author: 422, resourceMember: 422 }),
    prepare: withBody(() => ({ action: 'cancel', form_id: toWire('form', newId()) })),
  },
  takeThreadOver: { expect: answeredFor, prepare: visited },
  handThreadBack: { expect: answeredFor, prepare: visited },
  inviteThreadMember: { expect: rows.hiddenOwnerOnly, prepare: withBody(() => ({ email: freshEmail() })) },
  listThreadMembers: { expect: rows.hiddenAnyMember, prepare: thread },
  updateThreadMember: {
    expect: rows.hiddenOwnerOnly,
    prepare: async (cast) => ({ ...(await viewerOf(cast)), body: { role: 'member' } }),
  },
  // The viewer may leave the thread.
  removeThreadMember: { expect: withChanges(rows.hiddenOwnerOnly, { resourceViewer: 'ok' }), prepare: viewerOf },
  getThreadAudio: { expect: rows.hiddenAnyMember, prepare: clip },
  speakInThread: {
    expect: rows.hiddenAnyMember,
    prepare: withBody(() => ({ text: 'Yes.', format: 'wav' })),
    afterFirst: { body: { text: '' } },
  },
  transcribeInThread: {
    expect: rows.hiddenAnyMember,
    prepare: async (cast) => {
      const { params } = await thread(cast)
      return { params: params!, raw: await speech(cast, params!.thread_id!) }
    },
    afterFirst: { raw: 'no sound' },
  },
  playAudio: { expect: rows.anyone, prepare: signedAddress },
}
