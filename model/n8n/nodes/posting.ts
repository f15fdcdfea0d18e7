import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { type Exit, flattened } from '../flow.ts'
import { NotConvertible, NotFilled } from '../js-ast.ts'
import { isEmpty, listOf, objectOf } from '../lenient.ts'
import { celOut, type Out, pathOut, textOf } from '../out.ts'
import type { Scope } from '../scope.ts'
import type { Step } from '../step.ts'
import { chosen, fileOf } from './service-call.ts'

// Vendors that post on behalf of people: requests whose body depends on the network, or whose address combines
// parameters.

const credentialOf = ({ node }: Step, otherwise: { name: string; kind: string }): { name: string; kind: string } => {
  const [kind, name] = Object.entries(node.credentials)[0] ?? []
  return kind === undefined || name === undefined ? otherwise : { name, kind }
}

const BLOTATO = 'https://backend.blotato.com/v2'

/** Fields that a network requires besides the text, with the parameter of each. */
const TARGETS: Record<string, Record<string, string>> = {
  facebook: { pageId: 'facebookPageId', mediaType: 'options.facebookMediaType' },
  linkedin: { pageId: 'linkedinPageId' },
  pinterest: { boardId: 'pinterestBoardId', title: 'options.pinterestTitle', link: 'options.pinterestLink' },
  youtube: { title: 'postCreateYoutubeOptionTitle', privacyStatus: 'postCreateYoutubeOptionPrivacyStatus' },
  instagram: { mediaType: 'options.instagramMediaType' },
  tiktok: { privacyLevel: 'postCreateTiktokOptionPrivacyLevel' },
}
const ALWAYS: Record<string, JsonObject> = {
  youtube: { privacyStatus: 'public', shouldNotifySubscribers: true },
  tiktok: {
    privacyLevel: 'PUBLIC_TO_EVERYONE',
    disabledComments: false,
    disabledDuet: false,
    disabledStitch: false,
    isBrandedContent: false,
    isYourBrand: false,
    isAiGenerated: false,
  },
}

function parameter({ p }: Step, path: string): Json | undefined {
  const [first, second] = path.split('.')
  return chosen(second === undefined ? p[first!] : objectOf(p[first!])[second])
}

function target(step: Step, scope: Scope, platform: string): JsonObject {
  const made: JsonObject = { targetType: platform, ...ALWAYS[platform] }
  for (const [name, path] of Object.entries(TARGETS[platform] ?? {})) {
    const raw = parameter(step, path)
    if (!isEmpty(raw)) made[name] = step.text(raw, scope, path)
    else if (name === 'pageId' && platform === 'facebook') made[name] = step.unfilled('the page of Facebook')
    else if (name === 'boardId') made[name] = step.unfilled('the board of Pinterest')
  }
  if (platform === 'tiktok' && step.p.postCreateTiktokOptionIsAiGenerated === true) made.isAiGenerated = true
  return made
}

/** Returns the list of a text with commas, or the list itself. */
function mediaUrls(step: Step, scope: Scope): Json {
  const raw = step.p.postContentMediaUrls
  if (isEmpty(raw)) return []
  const of = step.out(raw, scope, 'postContentMediaUrls')
  return step.guarded(
    celOut(
      `cel.bind(v, ${of.cel}, type(v) == list ? v : string(v).split(",").map(x, x.trim()).filter(x, x != ""))`,
      'list',
    ),
  )
}

function blotato(step: Step): Exit[] {
  const { p } = step
  const credential = credentialOf(step, { name: 'Blotato', kind: 'blotatoApi' })
  const resource = String(p.resource ?? 'post')
  const operation = String(p.operation ?? (resource === 'media' ? 'upload' : 'create'))
  if (resource === 'media' && operation === 'upload')
    return step.each(({ scope, add }) => {
      if (p.useBinaryData === true) throw new NotConvertible('Blotato: a file is uploaded in several steps')
      if (isEmpty(p.mediaUrl)) throw new NotFilled('it has no address of a file')
      const json = { url: step.text(p.mediaUrl, scope, 'mediaUrl') }
      const id = add('http.request', { method: 'POST', url: `${BLOTATO}/media`, json }, { credential })
      return pathOut(['nodes', id, 'output', 'body'])
    })
  if (resource !== 'post' || operation !== 'create')
    throw new NotConvertible(`Blotato: the operation "${`${resource} ${operation}`.slice(0, 60)}" is not mapped`)
  const platform = String(p.platform ?? 'instagram')
  if (platform.startsWith('=')) throw new NotConvertible('Blotato: the network is computed')
  return step.each(({ scope, add }) => {
    const account = chosen(p.accountId)
    const scheduled = objectOf(p.options).scheduledTime
    const post = {
      accountId: isEmpty(account) ? step.unfilled('the account of Blotato') : step.text(account, scope, 'accountId'),
      content: {
        text: step.text(p.postContentText ?? '', scope, 'postContentText'),
        mediaUrls: mediaUrls(step, scope),
        platform,
      },
      target: target(step, scope, platform),
    }
    const json = { post, ...(!isEmpty(scheduled) && { scheduledTime: step.text(scheduled, scope, 'scheduledTime') }) }
    const id = add('http.request', { method: 'POST', url: `${BLOTATO}/posts`, json }, { credential })
    return pathOut(['nodes', id, 'output', 'body'])
  })
}

/** Converts a request to any address of the Graph API. */
function facebook(step: Step): Exit[] {
  const { p } = step
  const options = objectOf(p.options)
  if (isEmpty(p.node)) throw new NotFilled('it names no object of the Graph API')
  return step.each(({ scope, add }) => {
    const path = [p.graphApiVersion, p.node, p.edge]
      .filter((part) => !isEmpty(part))
      .map((part) => textOf(step.out(part, scope, 'node')))
    const fields = listOf(objectOf(options.fields).field)
      .map(({ name }) => String(name ?? ''))
      .filter((name) => name !== '')
    const query: JsonObject = Object.fromEntries(
      listOf(objectOf(options.queryParameters).parameter)
        .filter(({ name }) => typeof name === 'string' && name !== '')
        .map((one) => [String(one.name), step.text(one.value ?? '', scope, String(one.name))]),
    )
    if (fields.length > 0) query.fields = fields.join(',')
    if (!isEmpty(options.queryParametersJson)) throw new NotConvertible('its parameters are a text of JSON')
    const host = String(p.hostUrl ?? 'graph.facebook.com') === 'graph-video.facebook.com' ? 'graph-video' : 'graph'
    const id = add(
      'http.request',
      {
        method: String(p.httpRequestMethod ?? 'GET'),
        url: step.guarded(
          celOut(`${JSON.stringify(`https://${host}.facebook.com/`)} + ${path.join(' + "/" + ')}`, 'text'),
        ),
        ...(Object.keys(query).length > 0 && { query }),
        ...(p.sendBinaryData === true && { body: step.guarded(plainFile(step, scope)) }),
      },
      { credential: credentialOf(step, { name: 'Facebook Graph', kind: 'facebookGraphApi' }) },
    )
    return pathOut(['nodes', id, 'output', 'body'])
  })
}

function plainFile({ p }: Step, scope: Scope): Out {
  const name = String(p.binaryPropertyName ?? 'data')
    .split(':')
    .at(-1)!
  if (name.startsWith('=')) throw new NotConvertible('the name of the field with the file is computed')
  const { cel, type, path } = fileOf(scope, name)
  return { cel, type, ...(path && { path }) }
}

/** Converts operations on Baserow rows, with the names of its fields. */
function baserow(step: Step): Exit[] {
  const { p } = step
  const operation = String(p.operation ?? 'getAll')
  const credential = credentialOf(step, { name: 'Baserow', kind: 'baserowApi' })
  const table = chosen(p.tableId)
  if (isEmpty(table)) throw new NotFilled('it names no table')
  const base = (scope: Scope): string =>
    `"https://api.baserow.io/api/database/rows/table/" + ${textOf(step.out(table, scope, 'tableId'))} + "/"`
  const ofRow = (scope: Scope): string => `${base(scope)} + ${textOf(step.out(p.rowId, scope, 'rowId'))} + "/"`
  const row = (scope: Scope): Json =>
    p.dataToSend === 'autoMapInputData'
      ? step.guarded(scope.input.paired())
      : Object.fromEntries(
          listOf(objectOf(p.fieldsUi).fieldValues).map((one) => [
            /^\d+$/.test(String(one.fieldId)) ? `field_${String(one.fieldId)}` : String(one.fieldId ?? ''),
            step.value(one.fieldValue ?? '', scope, 'fieldValue'),
          ]),
        )
  const methods: Record<string, string> = { get: 'GET', create: 'POST', update: 'PATCH', delete: 'DELETE' }
  if (operation === 'getAll') {
    const { filters, search } = objectOf(p.additionalOptions)
    if (isObject(filters)) throw new NotConvertible('Baserow: filters are not mapped')
    const limit = p.returnAll === true ? 200 : Math.min(200, Number(p.limit ?? 50) || 50)
    return step.each(
      ({ scope, add }) => {
        const query: JsonObject = { user_field_names: 'true', size: limit }
        if (!isEmpty(search)) query.search = step.text(search, scope, 'search')
        const url = step.guarded(celOut(base(scope), 'text'))
        const id = add('http.request', { method: 'GET', url, query }, { credential })
        return flattened(celOut(`[${pathOut(['nodes', id, 'output', 'body', 'results']).cel}]`, 'list'))
      },
      { many: true },
    )
  }
  if (methods[operation] === undefined)
    throw new NotConvertible(`Baserow: the operation "${operation.slice(0, 40)}" is not mapped`)
  return step.each(({ scope, add }) => {
    const url = step.guarded(celOut(operation === 'create' ? base(scope) : ofRow(scope), 'text'))
    const json: JsonObject = operation === 'create' || operation === 'update' ? { json: row(scope) } : {}
    const isByName = p.dataToSend === 'autoMapInputData' || operation === 'get'
    const query: JsonObject = isByName ? { query: { user_field_names: 'true' } } : {}
    const id = add('http.request', { method: methods[operation]!, url, ...query, ...json }, { credential })
    return pathOut(['nodes', id, 'output', 'body'])
  })
}

export const POSTING: Record<string, (step: Step) => Exit[]> = { blotato, facebookGraphApi: facebook, baserow }
