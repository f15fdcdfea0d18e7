// Reads frames of server-sent events from a response as they arrive.

export type EventFrame = { id: string | null; event: string; data: unknown }

export async function readEvents(body: ReadableStream<Uint8Array>, take: (frame: EventFrame) => void): Promise<void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += decoder.decode(value, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const frame = readFrame(text.slice(0, end))
      text = text.slice(end + 2)
      if (frame) take(frame)
    }
  }
}

/** Returns undefined for a keep-alive comment. */
function readFrame(text: string): EventFrame | undefined {
  const fields = new Map(
    text.split('\n').map((line) => {
      const colon = line.indexOf(': ')
      return [line.slice(0, colon), line.slice(colon + 2)] as const
    }),
  )
  const event = fields.get('event')
  return event === undefined
    ? undefined
    : { id: fields.get('id') ?? null, event, data: JSON.parse(fields.get('data') ?? 'null') }
}

/** The text that an assistant has written so far. */
export type Draft = { text: string; last: string | null }

/**
 * Reads one stream to its end. Returns undefined if the connection is lost before the end; the same request with
 * `draft.last` as Last-Event-ID then continues. `failed` receives the problem that the stream ended with.
 */
export async function followAnswer<Answer>(
  body: ReadableStream<Uint8Array>,
  draft: Draft,
  { onText, failed }: { onText(text: string): void; failed(problem: unknown): never },
): Promise<{ answer: Answer } | undefined> {
  let ended: { answer: Answer } | undefined
  const take = ({ id, event, data }: EventFrame): void => {
    if (id !== null) draft.last = id
    if (event === 'done') ended = { answer: data as Answer }
    else if (event === 'error') failed(data)
    else if (event === 'text' || event === 'reset') {
      draft.text = event === 'reset' ? '' : draft.text + (data as { delta: string }).delta
      onText(draft.text)
    }
  }
  try {
    await readEvents(body, take)
  } catch (error) {
    if (!(error instanceof TypeError) && !(error instanceof DOMException)) throw error
  }
  return ended
}
