import type { ServerResponse } from 'node:http'
import type { FakeAnswer } from './answers.ts'
import { writeChat } from './chat.ts'
import { writeResponses } from './responses.ts'
import type { Fields } from './strict.ts'

// Writes answers as server-sent events, in the form of each protocol.

/** Returns the answer for a caller that requests no stream. */
export const whole = (answer: FakeAnswer): FakeAnswer =>
  answer.kind === 'pieces' || answer.kind === 'broken' ? { kind: 'text', text: answer.pieces.join('') } : answer

const piecesOf = (answer: FakeAnswer): string[] => {
  if (answer.kind === 'pieces' || answer.kind === 'broken') return answer.pieces
  if (answer.kind === 'text') return answer.text.split(/(?<= )/)
  return answer.kind === 'tools' && answer.text !== undefined ? [answer.text] : []
}

export async function stream(
  response: ServerResponse,
  protocol: 'chat' | 'responses',
  answer: FakeAnswer,
  number: number,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  const send = (data: Fields): void => void response.write(`data: ${JSON.stringify(data)}\n\n`)
  const events = protocol === 'chat' ? chatEvents(answer, number) : responseEvents(answer, number)
  const before = answer.kind === 'pieces' ? answer.before : undefined
  events.begin.forEach(send)
  for (const [index, piece] of piecesOf(answer).entries()) {
    await before?.(index)
    send(events.text(piece))
  }
  if (answer.kind === 'broken') {
    if (answer.ends) response.end()
    else response.destroy()
    return
  }
  await before?.(piecesOf(answer).length)
  events.end.forEach(send)
  response.end(protocol === 'chat' ? 'data: [DONE]\n\n' : undefined)
}

type Events = { begin: Fields[]; text(piece: string): Fields; end: Fields[] }

function chatEvents(answer: FakeAnswer, number: number): Events {
  const { choices, usage, ...head } = writeChat(whole(answer), number) as Fields & {
    choices: { message: Fields & { tool_calls?: Fields[] }; finish_reason: string }[]
  }
  const { message, finish_reason } = choices[0]!
  const chunk = (delta: Fields, finish: string | null = null): Fields => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  const { refusal } = message
  const calls = (message.tool_calls ?? []).map((call, index) => chunk({ tool_calls: [{ index, ...call }] }))
  return {
    begin: [chunk({ role: 'assistant', content: '' }), ...(typeof refusal === 'string' ? [chunk({ refusal })] : [])],
    text: (content) => chunk({ content }),
    end: [...calls, chunk({}, finish_reason), { ...head, object: 'chat.completion.chunk', choices: [], usage }],
  }
}

function responseEvents(answer: FakeAnswer, number: number): Events {
  const response = writeResponses(whole(answer), number) as Fields & { output: Fields[] }
  const isText = response.output[0]?.type === 'message'
  const added = response.output.map((item, output_index) => ({
    type: 'response.output_item.added',
    output_index,
    item: isText ? { ...item, content: [], status: 'in_progress' } : { ...item, arguments: '', status: 'in_progress' },
  }))
  const done = response.output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item }))
  return {
    begin: [{ type: 'response.created', response: { ...response, output: [], status: 'in_progress' } }, ...added],
    text: (delta) => ({
      type: 'response.output_text.delta',
      item_id: response.output[0]!.id,
      output_index: 0,
      content_index: 0,
      delta,
    }),
    end: [...done, { type: response.status === 'incomplete' ? 'response.incomplete' : 'response.completed', response }],
  }
}
