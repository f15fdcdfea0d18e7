import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { type Exit, outputOf } from '../flow.ts'
import { NotConvertible } from '../js-ast.ts'
import { celOut } from '../out.ts'
import type { Place, Step } from '../step.ts'
import { addCall, fileOf } from './service-call.ts'

/** Converts a text or a list of addresses to a list. */
function addresses(step: Step, { scope }: Place, raw: unknown): JsonObject | unknown[] | undefined {
  if (typeof raw !== 'string' || raw.replace(/^=/, '').trim() === '') return undefined
  if (!raw.startsWith('=')) {
    const list = raw
      .split(/[,;]/)
      .map((one) => one.trim())
      .filter((one) => one !== '')
    // `your-email`: a placeholder for an address.
    return list.every((one) => one.includes('@') && !/[<>[\]{}\s]/.test(one)) ? list : undefined
  }
  const of = step.out(raw, scope, 'to')
  const text = of.type === 'text' ? of.cel : `string(${of.cel})`
  return step.guarded(celOut(`${text}.split(",").map(x, x.trim())`, 'list')) as JsonObject
}

const filled = (value: Json | undefined): boolean =>
  value !== undefined && value !== null && value !== '' && value !== '='

function attachments(step: Step, { scope }: Place): JsonObject {
  const options = isObject(step.p.options) ? step.p.options : {}
  const held = isObject(options.attachmentsUi) ? options.attachmentsUi.attachmentsBinary : undefined
  const names = (
    Array.isArray(held)
      ? held.filter(isObject).map(({ property }) => String(property ?? ''))
      : String(options.attachments ?? '').split(',')
  )
    .flatMap((one) => one.split(','))
    .map((one) => one.trim())
    .filter((one) => one !== '')
  if (names.some((name) => name.startsWith('='))) throw new NotConvertible('the names of its attachments are computed')
  return names.length === 0 ? {} : { attachments: names.map((name) => step.guarded(fileOf(scope, name))) }
}

/** Converts mail nodes: Gmail, and SMTP as mail.send. Google Docs writes by a list of changes. */
export function mailByCode(step: Step, resource = 'message', operation = 'send'): Exit[] | undefined {
  const { p, node } = step
  const kind = node.type.split('.').at(-1)
  const options = isObject(p.options) ? p.options : {}
  if (kind === 'googleDocs') return operation === 'update' ? documentChanges(step) : undefined
  if (kind === 'emailSend') {
    step.remark('the mail server of the installation sends it, from its own address')
    return step.each((at) => {
      const format = String(p.emailFormat ?? (p.html !== undefined ? 'html' : 'text'))
      const to = addresses(step, at, p.toEmail)

      const texts = {
        ...(format !== 'html' && { text: step.text(p.text, at.scope, 'text') }),
        ...(format !== 'text' && { html: step.text(p.html, at.scope, 'html') }),
      }
      return outputOf(
        at.add('mail.send', {
          to: (to as JsonObject | undefined) ?? step.unfilled('the recipient'),
          subject: filled(p.subject) ? step.text(p.subject, at.scope, 'subject') : step.unfilled('the subject'),
          ...texts,
          ...attachments(step, at),
        }),
      )
    })
  }
  const isDraft = resource === 'draft' && operation === 'create'
  if (operation === 'getAll' && resource === 'message') return messages(step)
  if (!isDraft && !(resource === 'message' && operation === 'send')) return undefined
  return step.each((at) => {
    const to = addresses(step, at, p.sendTo ?? p.toList ?? options.sendTo)
    const body: JsonObject =
      String(p.emailType ?? (node.version >= 2 ? 'html' : 'text')) === 'html'
        ? { html: step.text(p.message ?? p.htmlMessage, at.scope, 'message') }
        : { text: step.text(p.message, at.scope, 'message') }
    const args: JsonObject = {
      ...(to !== undefined && { to: to as JsonObject }),
      subject: step.text(p.subject ?? '', at.scope, 'subject'),
      ...body,
      ...attachments(step, at),
    }
    for (const [name, field] of [
      ['cc', 'ccList'],
      ['bcc', 'bccList'],
    ] as const) {
      const list = addresses(step, at, options[field])
      if (list !== undefined) args[name] = list as JsonObject
    }
    return outputOf(addCall(step, at, 'gmail', isDraft ? 'create_draft' : 'send_message', args))
  })
}

/** Fetches each message of a list, as n8n does; the list of the vendor contains ids only. */
function messages(step: Step): Exit[] {
  const { p } = step
  const filters = isObject(p.filters) ? p.filters : {}
  return step.each(
    (at) => {
      const search: string[] = []
      if (typeof filters.q === 'string') search.push(filters.q)
      if (filters.readStatus === 'unread' || filters.readStatus === 'read') search.push(`is:${filters.readStatus}`)
      for (const [field, word] of [
        ['sender', 'from'],
        ['receivedAfter', 'after'],
        ['receivedBefore', 'before'],
      ] as const) {
        const value = filters[field]
        if (typeof value !== 'string' || value === '') continue
        if (!value.startsWith('=')) search.push(`${word}:${value}`)
        else if (word === 'from') search.push(`=${word}:${value.slice(1)}`)
        // Gmail expects a time as seconds since 1970.
        else search.push(`=${word}:{{ (${expressionIn(value)}).toString().toDateTime().toSeconds() }}`)
      }
      const limit = Number(p.limit ?? 50)
      const args: JsonObject = {
        ...(search.length > 0 && { search: step.text(joined(search), at.scope, 'q') }),
        ...(Array.isArray(filters.labelIds) && { label_ids: step.value(filters.labelIds, at.scope, 'labelIds') }),
        ...(p.returnAll !== true && Number.isInteger(limit) && { max_items: limit }),
      }
      const list = addCall(step, at, 'gmail', 'list_messages', args)
      const one = step.work.uniqueId(`${step.id}_message`)
      const body = {
        nodes: [
          {
            id: one,
            type: 'service.call',
            args: { service: 'gmail', action: 'get_message', args: { message_id: { $ref: 'item.id' } } },
          },
        ],
        edges: [],
        output: { $ref: `nodes.${one}.output` },
      }
      const id = at.add('map', { items: { $ref: `nodes.${list}.output.items` }, body: body as unknown as JsonObject })
      step.remark('messages have the format of the Gmail API')
      return outputOf(id)
    },
    { many: true },
  )
}

/** Joins several texts to one, as an expression if one of the texts is an expression. */
const joined = (parts: string[]): string =>
  parts.some((part) => part.startsWith('='))
    ? `=${parts.map((part) => part.replace(/^=/, '')).join(' ')}`
    : parts.join(' ')

/** Returns the source between {{ and }} if the value consists only of that. */
function expressionIn(value: string): string {
  const [, source] = /^=\s*\{\{([\s\S]*)\}\}\s*$/.exec(value) ?? []
  if (source === undefined || source.includes('{{')) throw new NotConvertible('gmail: a time is built from texts')
  return source.trim()
}

function documentChanges(step: Step): Exit[] {
  const { p } = step
  const fields = isObject(p.actionsUi) ? p.actionsUi.actionFields : undefined
  const actions = Array.isArray(fields) ? fields.filter(isObject) : []
  if (actions.length === 0) throw new NotConvertible('google_docs: it changes nothing')
  return step.each((at) => {
    const url = p.documentURL
    const document =
      typeof url === 'string' ? url.replace(/^(=?)https:\/\/docs\.google\.com\/document\/d\/([\w-]+).*$/, '$1$2') : url
    const requests = actions.map((one) => {
      const text = step.text(one.text, at.scope, 'text')
      if (one.action === 'replaceAll')
        return {
          replaceAllText: {
            containsText: { text, matchCase: one.matchCase === true },
            replaceText: step.text(one.replaceText ?? '', at.scope, 'replaceText'),
          },
        }
      if (one.action === 'insert' && one.object !== 'table' && one.locationChoice !== 'location')
        return { insertText: { endOfSegmentLocation: {}, text } }
      if (one.action === 'insert' && one.object !== 'table')
        return { insertText: { location: { index: Number(one.index ?? 1) || 1 }, text } }
      throw new NotConvertible(
        `google_docs: the change "${String(one.action).slice(0, 30)} ${String(one.object ?? '').slice(0, 30)}" is not mapped`,
      )
    })
    return outputOf(
      addCall(step, at, 'google_docs', 'batch_update', {
        document_id: step.text(document, at.scope, 'documentURL'),
        requests: requests as unknown as JsonObject[],
      }),
    )
  })
}
