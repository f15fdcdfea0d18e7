import { createHmac } from 'node:crypto'
import { type FakeVendor, jsonOf, keptFiles, type Reply, startVendor } from './server.ts'

export const WHATSAPP_TOKEN = 'EAAGfake-access-token'
export const WHATSAPP_SECRET = 'app-secret-of-meta'
export const WHATSAPP_VERIFY = 'verify-token-of-ours'
export const PHONE_ID = '106540352242922'

const no = (status: number, code: number, message: string): Reply => ({
  status,
  body: { error: { message, type: 'OAuthException', code } },
})

/** Imitates POST /vN/{phone number id}/messages of the Graph API. */
export function startWhatsapp(): Promise<FakeVendor> {
  return startVendor((call, keep) => {
    if (call.headers.authorization !== `Bearer ${WHATSAPP_TOKEN}`) return no(401, 190, 'Invalid OAuth access token')
    if (call.path === '/v23.0/orders' && call.method === 'GET')
      return { status: 200, body: { url: `http://${call.headers.host}/media/orders`, mime_type: 'text/csv' } }
    if (call.path === '/media/orders' && call.method === 'GET') return { status: 200, body: keptFiles.orders }
    if (call.method !== 'POST' || !/^\/v\d+\.\d+\/\d+\/messages$/.test(call.path)) return no(400, 100, 'Unknown path')
    if (!call.path.includes(`/${PHONE_ID}/`)) return no(400, 100, 'Object with this id does not exist')
    const body = jsonOf(call) as {
      messaging_product?: string
      to?: string
      type?: string
      text?: { body?: string }
      biz_opaque_callback_data?: string
    }
    if (body?.messaging_product !== 'whatsapp') return no(400, 100, 'messaging_product is required')
    if (body.type !== 'text' || !body.text?.body || body.text.body.length > 4096)
      return no(400, 100, 'text is required')
    if (!/^\d+$/.test(body.to ?? '')) return no(400, 131009, 'Parameter value is not valid')
    if (body.to === '4900000') return no(400, 131047, 'Re-engagement message')
    keep({ to: body.to!, text: body.text.body, key: body.biz_opaque_callback_data })
    return { status: 200, body: { messaging_product: 'whatsapp', messages: [{ id: 'wamid.out' }] } }
  })
}

export function fromWhatsapp(body: unknown, secret = WHATSAPP_SECRET) {
  const raw = JSON.stringify(body)
  const mac = createHmac('sha256', secret).update(raw).digest('hex')
  return {
    raw,
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${mac}` } as Record<string, string>,
  }
}

const notification = <Value extends object>(value: Value, phone = PHONE_ID) => ({
  object: 'whatsapp_business_account',
  entry: [
    {
      id: '102290129340398',
      changes: [
        {
          field: 'messages',
          value: {
            messaging_product: 'whatsapp',
            metadata: { display_phone_number: '15550783881', phone_number_id: phone },
            ...value,
          },
        },
      ],
    },
  ],
})

let count = 0
export const whatsappMessage = (text: string, options: { from?: string; phone?: string } = {}) =>
  notification(
    {
      contacts: [{ profile: { name: 'Sheena' }, wa_id: options.from ?? '16505551234' }],
      messages: [
        {
          from: options.from ?? '16505551234',
          id: `wamid.in${++count}`,
          timestamp: String(Math.floor(Date.now() / 1000)),
          type: 'text',
          text: { body: text },
        },
      ],
    },
    options.phone,
  )

/** A report about a message that WhatsApp accepted with these callback data. */
export const whatsappStatus = (status: string, data?: string, options: { phone?: string; errors?: object[] } = {}) =>
  notification(
    {
      statuses: [
        {
          id: 'wamid.out',
          status,
          timestamp: String(Math.floor(Date.now() / 1000)),
          recipient_id: '16505551234',
          ...(data !== undefined && { biz_opaque_callback_data: data }),
          ...(status === 'failed' && {
            errors: options.errors ?? [
              {
                code: 131047,
                title: 'Re-engagement message',
                message: 'Re-engagement message',
                error_data: { details: 'More than 24 hours have passed since the customer last replied.' },
              },
            ],
          }),
        },
      ],
    },
    options.phone,
  )
