// Reads the file name of a `Content-Disposition` header (RFC 6266).

const PARAMETER = /;\s*([\w-]+\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^";\s]*))/g
const EXTENDED = /^([\w-]+)'[^']*'(.*)$/s

/** Returns the name, or undefined if the header has none. `filename*` takes precedence over `filename`. */
export function nameInDisposition(header: string | undefined): string | undefined {
  const given = new Map<string, string>()
  for (const [, name = '', quoted, plain = ''] of (header ?? '').matchAll(PARAMETER))
    given.set(name.toLowerCase(), quoted === undefined ? plain : quoted.replace(/\\(.)/g, '$1'))
  const plain = given.get('filename')
  return decodedName(given.get('filename*')) ?? (plain ? asUtf8(plain) : undefined)
}

function decodedName(value: string | undefined): string | undefined {
  const [, charset = '', text = ''] = EXTENDED.exec(value ?? '') ?? []
  if (text === '') return undefined
  const bytes = Buffer.from(
    text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
  return charset.toLowerCase() === 'iso-8859-1' ? bytes.toString('latin1') : bytes.toString('utf8')
}

/** Many servers send the bytes of UTF-8, which the HTTP library may have read as Latin-1. */
function asUtf8(text: string): string {
  if (!/[\x80-\xff]/.test(text) || /[^\0-\xff]/.test(text)) return text
  const utf8 = Buffer.from(text, 'latin1').toString('utf8')
  return utf8.includes('\ufffd') ? text : utf8
}
