// The code around the source of a Code node: it provides the items as n8n does, and processes the result.

/** Whether code reads or writes files, and whether it keeps data between executions. */
export type Needs = { reads: boolean; writes: boolean; keeps: boolean }

/** Shows a file as n8n does. The Heddle file stays inside the object, so that the code can pass it on. */
const ITEMS = `const fileView = (file, content) => {
  const { name = '', media_type: mimeType = '', bytes: fileSize } = file?.$file ?? {}
  return { ...file, fileName: name, mimeType, fileSize, fileExtension: name.includes('.') ? name.split('.').at(-1) : '', ...(content !== undefined && { data: content }) }
}
const contentOf = (at, key) => (input.files ?? []).find((one) => one.at === at && one.key === key)?.content
const wrap = (list, isOwn = false) => (list ?? []).map((given, at) => {
  if (typeof given !== 'object' || given === null || !given.binary) return { json: given, pairedItem: { item: at } }
  const { binary, ...json } = given
  return { json, binary: Object.fromEntries(Object.entries(binary).map(([key, file]) => [key, fileView(file, isOwn ? contentOf(at, key) : undefined)])), pairedItem: { item: at } }
})
const view = (all, ran = true) => ({ all: () => all, first: () => all[0], last: () => all.at(-1), item: all[0], itemMatching: (at) => all[at], json: all[0]?.json, binary: all[0]?.binary, isExecuted: ran, context: {}, params: {} })
const items = wrap(input.items, true)
`

const HELPERS = `const helpers = {
  getBinaryDataBuffer: async (at, key) => Buffer.from(items[at]?.binary?.[key]?.data ?? '', 'base64'),
  prepareBinaryData: async (bytes, fileName, mimeType) => ({ data: Buffer.from(bytes).toString('base64'), fileName, mimeType }),
}
`

const STATIC =
  'const kept = input.kept ?? {}\nconst getWorkflowStaticData = (kind) => (kept[kind] ??= {})\nconst $getWorkflowStaticData = getWorkflowStaticData\n'

const MODULES = `const require = (name) => {
  const plain = name.replace('node:', '')
  const found = { MODULES }[plain]
  if (!found) throw new Error('the package "' + name + '" is not available')
  return found
}
`

const MODULE_VALUES: [RegExp, string][] = [
  [/require\s*\(\s*['"`](?:node:)?crypto/, 'crypto: nodeCrypto'],
  [/require\s*\(\s*['"`](?:node:)?luxon/, 'luxon: { DateTime, Duration, Interval }'],
  [/require\s*\(\s*['"`](?:node:)?buffer/, 'buffer: { Buffer }'],
  [/require\s*\(\s*['"`](?:node:)?url/, 'url: { URL, URLSearchParams }'],
  [
    /require\s*\(\s*['"`](?:node:)?querystring/,
    'querystring: { stringify: (value) => new URLSearchParams(value).toString(), parse: (text) => Object.fromEntries(new URLSearchParams(text)) }',
  ],
]

export function itemsSource({ reads, writes, keeps }: Needs, source: string): string {
  const usesFiles = reads || writes
  const modules = MODULE_VALUES.filter(([pattern]) => pattern.test(source)).map(([, text]) => text)
  return [
    ITEMS,
    usesFiles ? HELPERS : '',
    keeps ? STATIC : '',
    modules.length > 0 ? MODULES.replace('{ MODULES }', `{ ${modules.join(', ')} }`) : '',
    `const self = { ${[usesFiles ? 'helpers' : '', keeps ? 'getWorkflowStaticData' : ''].filter((name) => name !== '').join(', ')} }\n`,
  ].join('')
}

export const readersSource = (hasNodes: boolean): string =>
  hasNodes
    ? `const $ = (name) => view(wrap(input.nodes[name]), (input.nodes[name]?.length ?? 0) > 0)
const $node = new Proxy({}, { get: (_, name) => $(String(name)) })
const $items = (name) => (name === undefined ? items : $(name).all())
`
    : 'const $items = () => items\n'

/** Heddle files are returned unchanged; files that the code created are Base64 texts that must still be written. */
const FINISH = `const made = []
const plainFile = (file, at, key) => {
  if (file?.$file) return { $file: file.$file }
  if (typeof file?.data !== 'string') return null
  made.push({ at, key, name: String(file.fileName || key + (file.fileExtension ? '.' + file.fileExtension : '')).slice(0, 200) || 'file', media_type: String(file.mimeType || 'application/octet-stream').slice(0, 160), base64: file.data.replace(/^data:[^,]*,/, '') })
  return null
}
const plain = (one, at) => {
  if (typeof one !== 'object' || one === null || !('json' in one || 'binary' in one)) return one
  if (!one.binary) return one.json
  return { ...one.json, binary: Object.fromEntries(Object.entries(one.binary).map(([key, file]) => [key, plainFile(file, at, key)])) }
}
const result = [out].flat().filter((one) => one !== null && one !== undefined).map(plain)
`

export const finishSource = ({ writes, keeps }: Needs): string =>
  writes || keeps
    ? `${FINISH}return { items: result${writes ? ', files: made' : ''}${keeps ? ', kept' : ''} }`
    : `${FINISH}return result`
