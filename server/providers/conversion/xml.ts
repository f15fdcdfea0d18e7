import { ConversionFailure } from './index.ts'

// Reads XML as a stream of its contents. Document type and entity declarations are refused: nothing is expanded,
// fetched or included.

export type XmlHandler = {
  open(name: string, attributes: Record<string, string>): void
  text(text: string): void
  close(name: string): void
}

const MAX_DEPTH = 100
const MAX_ELEMENTS = 2_000_000
const TOKEN =
  /<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<\?[\s\S]*?\?>|<(\/?)([^\s/>!?=<]+)((?:[^<>"']|"[^"]*"|'[^']*')*?)(\/?)>|[^<]+/y
const ATTRIBUTE = /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g
const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

const unreadable = (message: string): ConversionFailure => new ConversionFailure('file_unreadable', message)

export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(#x[0-9a-fA-F]{1,6}|#\d{1,7}|[A-Za-z][A-Za-z0-9]{0,30});/g, (_, name: string) => {
    if (!name.startsWith('#')) {
      const known = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined
      if (known === undefined) throw unreadable(`the XML uses the entity &${name};, which is not defined`)
      return known
    }
    const code = name[1] === 'x' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
    return code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) || code === 0 ? '\ufffd' : String.fromCodePoint(code)
  })
}

export function readXml(source: string, handler: XmlHandler): void {
  const open: string[] = []
  let elements = 0
  let at = 0
  if (/<!(DOCTYPE|ENTITY)/i.test(source)) throw unreadable('XML with a DOCTYPE or entities is refused')
  while (at < source.length) {
    TOKEN.lastIndex = at
    const match = TOKEN.exec(source)
    if (!match) throw unreadable(`the XML is not well-formed (at character ${at + 1})`)
    at = TOKEN.lastIndex
    const [whole, cdata, closing, name, inside = '', empty] = match
    if (cdata !== undefined) handler.text(cdata)
    else if (name === undefined) {
      if (!whole.startsWith('<') && open.length > 0) handler.text(decodeEntities(whole))
      else if (!whole.startsWith('<') && whole.trim() !== '' && whole.trim() !== '\ufeff')
        throw unreadable('the XML has text outside its root element')
    } else if (closing === '/') {
      if (open.pop() !== name) throw unreadable(`</${name.slice(0, 60)}> closes an element that is not open`)
      handler.close(name)
    } else {
      elements += 1
      if (elements > MAX_ELEMENTS || open.length >= MAX_DEPTH)
        throw unreadable('the XML is too large or nested too deeply')
      handler.open(name, attributesOf(inside))
      if (empty === '/') handler.close(name)
      else open.push(name)
    }
  }
  if (open.length > 0 || elements === 0) throw unreadable('the XML ends too early')
}

function attributesOf(text: string): Record<string, string> {
  const attributes: Record<string, string> = {}
  if (text === '') return attributes
  for (const [, name, double, single] of text.matchAll(ATTRIBUTE)) {
    if (name !== '__proto__') attributes[name as string] = decodeEntities(double ?? single ?? '')
  }
  return attributes
}

type Element = { [key: string]: unknown }

/** `<a x="1">t<b/></a>` becomes `{"a": {"@x": "1", "#text": "t", "b": ""}}`; a repeated element becomes a list. */
/** Returns the encoding that the document declares in its first line. Undefined if it declares none. */
export const encodingOfXml = (bytes: Buffer): string | undefined =>
  /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([\w:.-]{1,40})["']/.exec(bytes.toString('latin1', 0, 200).trimStart())?.[1]

export function xmlToValue(source: string): unknown {
  const stack: { value: Element; text: string }[] = [{ value: {}, text: '' }]
  const add = (target: Element, name: string, value: unknown): void => {
    if (name === '__proto__') return
    const before = Object.hasOwn(target, name) ? target[name] : undefined
    if (before === undefined) target[name] = value
    else if (Array.isArray(before)) before.push(value)
    else target[name] = [before, value]
  }
  readXml(source, {
    open(_name, attributes) {
      const value: Element = {}
      for (const [name, text] of Object.entries(attributes)) value[`@${name}`] = text
      stack.push({ value, text: '' })
    },
    text(text) {
      const top = stack.at(-1)
      if (top) top.text += text
    },
    close(name) {
      const { value, text } = stack.pop() as { value: Element; text: string }
      const trimmed = text.trim()
      const isLeaf = Object.keys(value).length === 0
      if (!isLeaf && trimmed !== '') value['#text'] = trimmed
      add((stack.at(-1) as { value: Element }).value, name, isLeaf ? text.trim() : value)
    },
  })
  return (stack[0] as { value: Element }).value
}

export const escapeXml = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: XML can hold none of them
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
