import { Webhook } from 'standardwebhooks'
import { type FakeVendor, startVendor } from './server.ts'

export const WEBHOOK_SECRET = `whsec_${Buffer.from('a signing secret of 32 bytes, ok').toString('base64')}`

/** A customer's own system. It accepts only replies that are signed as the standard requires. */
export function startReceiver(secret = WEBHOOK_SECRET): Promise<FakeVendor> {
  const seen = new Set<string>()
  return startVendor((call, keep) => {
    try {
      const body = new Webhook(secret).verify(call.body.toString(), call.headers) as {
        sender_id: string
        conversation_id?: string
        text: string
      }
      const id = call.headers['webhook-id']!
      if (!seen.has(id)) keep({ to: body.sender_id, text: body.text, thread: body.conversation_id, key: id })
      seen.add(id)
      return { status: 200, body: {} }
    } catch (error) {
      return { status: 401, body: { error: String(error) } }
    }
  })
}

let count = 0
/** Signs the body with the library of the standard. */
export function fromWebhook(body: unknown, options: { secret?: string; at?: Date; id?: string } = {}) {
  const raw = JSON.stringify(body)
  const id = options.id ?? `msg_${++count}`
  const at = options.at ?? new Date()
  return {
    raw,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(options.secret ?? WEBHOOK_SECRET).sign(id, at, raw),
    } as Record<string, string>,
  }
}
