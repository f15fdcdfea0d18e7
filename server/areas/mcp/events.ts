import type { Exchange } from '#platform/http/route'

export type Send = (message: object) => void

/** Opens the response as an event stream. The last message is the reply. */
export function openEvents({ reply }: Exchange): Send {
  if (!reply.raw.headersSent) {
    reply.hijack()
    reply.raw.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
  }
  return (message) => void reply.raw.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
}

openEvents.accepts = ({ request }: Exchange): boolean => /\btext\/event-stream\b/i.test(request.headers.accept ?? '')
