import type { Json, JsonObject } from '#model/definition'
import { type Exit, outputOf } from '../flow.ts'
import { NotConvertible } from '../js-ast.ts'
import { listOf, objectOf } from '../lenient.ts'
import { celOut, fieldsOut, member, type Out, pathOut, textOf, valueAlone } from '../out.ts'
import type { Scope } from '../scope.ts'
import type { Place, Step } from '../step.ts'
import { hubspot } from './hubspot.ts'
import { MORE_SPECIAL } from './more-records.ts'
import { addCall, chosen, fileOf, itemsOf, limitOf } from './service-call.ts'

// Operations of services whose arguments combine several parameters, or that need several calls.

/** Returns a text after a prefix, such as `eq.` and a value. */
const prefixed = (step: Step, before: string, raw: Json | undefined, scope: Scope): Json =>
  typeof raw === 'string' && raw.startsWith('=')
    ? step.guarded(celOut(`${JSON.stringify(before)} + ${textOf(step.out(raw, scope, 'value'))}`, 'text'))
    : `${before}${String(raw ?? '')}`

/** Returns conditions by column: `{"id": "eq.7"}`. */
function supabaseFilters(step: Step, scope: Scope): JsonObject {
  const filters: JsonObject = {}
  for (const one of listOf(objectOf(step.p.filters).conditions)) {
    const name = String(one.keyName ?? '')
    if (name === '' || name.startsWith('=')) throw new NotConvertible('supabase: the name of a column is computed')
    const sign = one.condition === 'fullText' ? String(one.searchFunction ?? 'fts') : String(one.condition ?? 'eq')
    if (filters[name] !== undefined) throw new NotConvertible('supabase: two conditions are for one column')
    filters[name] = prefixed(step, `${sign}.`, one.keyValue, scope)
  }
  if (step.p.matchType === 'anyFilter' && Object.keys(filters).length > 1)
    throw new NotConvertible('supabase: conditions joined by "any" are not mapped')
  return filters
}

function supabaseRow(step: Step, scope: Scope): Json {
  const { p } = step
  if (p.dataToSend === 'autoMapInputData') return step.guarded(scope.input.paired())
  return Object.fromEntries(
    listOf(objectOf(p.fieldsUi).fieldValues).map((one) => [
      String(one.fieldId ?? ''),
      step.value(one.fieldValue ?? '', scope, 'fieldValue'),
    ]),
  )
}

function supabase(step: Step, _resource: string, operation: string): Exit[] | undefined {
  const { p } = step
  const table = (scope: Scope): Json => step.text(chosen(p.tableId) ?? '', scope, 'tableId')
  const call = (at: Place, action: string, args: JsonObject): string =>
    addCall(step, at, 'supabase', action, { table: table(at.scope), ...args })
  const rows = (id: string): Out => ({ ...outputOf(id), type: 'list' })
  const many = { many: true }
  if (operation === 'create')
    return step.each((at) => rows(call(at, 'insert_rows', { rows: [supabaseRow(step, at.scope)] })), many)
  if (operation === 'update')
    return step.each(
      (at) =>
        rows(
          call(at, 'update_rows', { filters: supabaseFilters(step, at.scope), fields: supabaseRow(step, at.scope) }),
        ),
      many,
    )
  if (operation === 'delete')
    return step.each((at) => rows(call(at, 'delete_rows', { filters: supabaseFilters(step, at.scope) })), many)
  if (operation !== 'get' && operation !== 'getAll') return undefined
  return step.each((at) => {
    if (p.filterType === 'string') throw new NotConvertible('supabase: conditions as a text are not mapped')
    return itemsOf(
      call(at, 'list_rows', {
        filters: supabaseFilters(step, at.scope),
        ...(operation === 'get' ? { max_items: 1 } : limitOf(step)),
      }),
    )
  }, many)
}

/** Fetches the file of an id, which needs two calls. */
function telegram(step: Step, resource: string, operation: string): Exit[] | undefined {
  if (resource !== 'file') return undefined
  if (operation !== 'get' && operation !== 'sendMessage') return undefined
  return step.each((at) => {
    const found = addCall(step, at, 'telegram', 'get_file', { file_id: step.text(step.p.fileId, at.scope, 'fileId') })
    const result = { result: outputOf(found) }
    if (step.p.download === false) return fieldsOut(result)
    const file = addCall(step, at, 'telegram', 'download_file', {
      file_path: { $ref: `nodes.${found}.output.file_path` },
    })
    const data: Out = { ...pathOut(['nodes', file, 'output', 'file']), isFile: true }
    return fieldsOut({ ...result, binary: fieldsOut({ data }) })
  })
}

/** Converts a reply: it is sent to the sender of a mail, in its thread. */
function gmail(step: Step, resource: string, operation: string): Exit[] | undefined {
  const { p, node } = step
  if (operation !== 'reply') return undefined
  if (resource !== 'message' && resource !== 'thread') return undefined
  return step.each((at) => {
    const options = objectOf(p.options)
    const mail = addCall(step, at, 'gmail', 'get_message', {
      message_id: step.text(chosen(p.messageId), at.scope, 'messageId'),
      format: 'metadata',
    })
    const header = (name: string): string =>
      `nodes.${mail}.output.payload.headers.filter(x, x.name.lower() == ${JSON.stringify(name)}).map(x, x.value)[?0].orValue("")`
    const isHtml = String(p.emailType ?? (node.version >= 2 ? 'html' : 'text')) === 'html'
    const body = step.text(p.message, at.scope, 'message')
    const subject = `cel.bind(v, ${header('subject')}, v.lower().startsWith("re:") ? v : "Re: " + v)`
    const others: JsonObject =
      typeof options.ccList === 'string' && options.ccList !== ''
        ? { cc: [step.text(options.ccList, at.scope, 'ccList')] }
        : {}
    return outputOf(
      addCall(step, at, 'gmail', 'send_message', {
        to: [{ $cel: `cel.bind(v, ${header('reply-to')}, v == "" ? ${header('from')} : v)` }],
        subject: { $cel: subject },
        ...(isHtml ? { html: body } : { text: body }),
        ...others,
        thread_id: { $ref: `nodes.${mail}.output.threadId` },
        in_reply_to: { $cel: header('message-id') },
      }),
    )
  })
}

function googleDrive(step: Step, _resource: string, operation: string): Exit[] | undefined {
  if (operation !== 'createFromText') return undefined
  const { p } = step
  if (objectOf(p.options).convertToGoogleDocument === true)
    step.remark('the file stays a text, not a document of Google')
  return step.each((at) => {
    const name = step.text(p.name === undefined || p.name === '' ? 'Untitled' : p.name, at.scope, 'name')
    const file = at.add('file.write', { name, text: step.text(p.content, at.scope, 'content') })
    const folder = chosen(p.folderId)
    return outputOf(
      addCall(step, at, 'google_drive', 'upload_file', {
        file: { $ref: `nodes.${file}.output` },
        name,
        ...(typeof folder === 'string' && folder !== '' && { folder_ids: [step.text(folder, at.scope, 'folderId')] }),
      }),
    )
  })
}

/** Uploads a file to the address that Slack returns, and then shares it in a channel. */
function slack(step: Step, resource: string, operation: string): Exit[] | undefined {
  if (resource !== 'file' || (operation !== 'upload' && operation !== 'post')) return undefined
  const { p } = step
  const options = objectOf(p.options)
  return step.each((at) => {
    const name = String(p.binaryPropertyName ?? 'data')
    if (name.startsWith('=')) throw new NotConvertible('the name of the field with the file is computed')
    const file = valueAlone(fileOf(at.scope, name))
    const about = member(file, '$file')
    const place = addCall(step, at, 'slack', 'get_upload_url', {
      filename:
        typeof options.fileName === 'string'
          ? step.text(options.fileName, at.scope, 'fileName')
          : step.guarded(member(about, 'name')),
      length: step.guarded(member(about, 'bytes')),
    })
    at.add('http.request', {
      method: 'POST',
      url: { $ref: `nodes.${place}.output.upload_url` },
      body: step.guarded(file),
    })
    const channel = options.channelId ?? options.channelIds
    const shown = chosen(Array.isArray(channel) ? channel[0] : channel)
    return outputOf(
      addCall(step, at, 'slack', 'complete_upload', {
        files: [{ id: { $ref: `nodes.${place}.output.file_id` } }],
        ...(typeof shown === 'string' && shown !== '' && { channel_id: step.text(shown, at.scope, 'channelId') }),
        ...(typeof options.initialComment === 'string' && {
          initial_comment: step.text(options.initialComment, at.scope, 'initialComment'),
        }),
      }),
    )
  })
}

/** Converts a file change, which must name the version that it replaces. */
function github(step: Step, resource: string, operation: string): Exit[] | undefined {
  if (resource !== 'file') return undefined
  const { p } = step
  const where = (scope: Scope): JsonObject => ({
    owner: step.text(chosen(p.owner), scope, 'owner'),
    repo: step.text(chosen(p.repository), scope, 'repository'),
    path: step.text(p.filePath ?? '', scope, 'filePath'),
  })
  if (operation === 'list')
    return step.each(
      (at) => ({ ...outputOf(addCall(step, at, 'github', 'get_file', where(at.scope))), type: 'list' }),
      { many: true },
    )
  if (operation !== 'edit') return undefined
  return step.each((at) => {
    const place = where(at.scope)
    const before = addCall(step, at, 'github', 'get_file', place)
    const content =
      p.binaryData === true
        ? step.guarded(valueAlone(fileOf(at.scope, String(p.binaryPropertyName ?? 'data'))))
        : step.text(p.fileContent, at.scope, 'fileContent')
    return outputOf(
      addCall(step, at, 'github', 'put_file', {
        ...place,
        content,
        message: step.text(p.commitMessage, at.scope, 'commitMessage'),
        sha: { $ref: `nodes.${before}.output.sha` },
      }),
    )
  })
}

const STATUS = ['publish', 'future', 'draft', 'pending', 'private']

function wordpress(step: Step, resource: string, operation: string): Exit[] | undefined {
  const { p } = step
  const fields = objectOf(operation === 'update' ? p.updateFields : p.additionalFields)
  const content = (scope: Scope): JsonObject => ({
    ...(p.title !== undefined && { title: step.text(p.title, scope, 'title') }),
    ...(fields.title !== undefined && { title: step.text(fields.title, scope, 'title') }),
    ...(fields.content !== undefined && { content: step.text(fields.content, scope, 'content') }),
    ...(STATUS.includes(String(fields.status)) && { status: String(fields.status) }),
    ...(operation === 'create' && fields.slug !== undefined && { slug: step.text(fields.slug, scope, 'slug') }),
    ...Object.fromEntries(
      (operation === 'create' && resource === 'post'
        ? ['categories', 'tags']
        : resource === 'post'
          ? ['categories']
          : []
      )
        .filter((name) => fields[name] !== undefined)
        .map((name) => [name, step.value(fields[name], scope, name)]),
    ),
  })
  const site = (): Json => step.unfilled('wordpress: the address of the site')
  const call = (at: Place, action: string, args: JsonObject): string =>
    addCall(step, at, 'wordpress', action, { site: site(), ...args })
  const id = (scope: Scope): Json => step.text(p.postId, scope, 'postId')
  switch (`${resource}:${operation}`) {
    case 'post:create':
      return step.each((at) => outputOf(call(at, 'create_post', content(at.scope))))
    case 'page:create':
      return step.each((at) => outputOf(call(at, 'create_page', content(at.scope))))
    case 'post:update':
      return step.each((at) => outputOf(call(at, 'update_post', { id: id(at.scope), ...content(at.scope) })))
    case 'post:get':
      return step.each((at) => outputOf(call(at, 'get_post', { id: id(at.scope) })))
    case 'post:getAll':
      return step.each((at) => itemsOf(call(at, 'list_posts', limitOf(step))), { many: true })
    default:
      return undefined
  }
}

type Special = (step: Step, resource: string, operation: string) => Exit[] | undefined

/** Handlers by type of n8n node. Operations that a handler does not know are looked up in the table. */
export const SPECIAL: Record<string, Special> = {
  hubspot,
  supabase,
  telegram,
  gmail,
  googleDrive,
  slack,
  github,
  wordpress,
  ...MORE_SPECIAL,
}
