// Converts HTML to Markdown: headings, paragraphs, lists, links, emphasis, code, quotes and tables. Everything else
// becomes plain text.

const TOKEN = /<!--[\s\S]*?(?:-->|$)|<(\/?)([A-Za-z][A-Za-z0-9-]*)((?:[^<>"']|"[^"]*"|'[^']*')*)>|[^<]+|</y
const HIDDEN = new Set(['script', 'style', 'template', 'noscript', 'head', 'svg', 'iframe', 'object'])
const BLOCKS = new Set(
  'address article aside blockquote dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tr ul'.split(
    ' ',
  ),
)
const MARKS: Readonly<Record<string, string>> = {
  b: '**',
  strong: '**',
  i: '_',
  em: '_',
  code: '`',
  del: '~~',
  s: '~~',
}
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  copy: '©',
  euro: '€',
}

const decode = (text: string): string =>
  text.replace(/&(#x[0-9a-fA-F]{1,6}|#\d{1,7}|[A-Za-z]{2,10});/g, (whole, name: string) => {
    if (!name.startsWith('#')) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] as string) : whole
    const code = name[1] === 'x' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
    return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? '\ufffd' : String.fromCodePoint(code)
  })

const attribute = (text: string, name: string): string | undefined => {
  const match = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(text)
  const value = match?.[1] ?? match?.[2] ?? match?.[3]
  return value === undefined ? undefined : decode(value)
}

/** Accepts only addresses that a reader can open without executing code. */
const safeLink = (href: string | undefined): string | undefined =>
  href !== undefined && /^(https?:|mailto:|\/|#|[^:]*$)/i.test(href.trim())
    ? href.trim().replaceAll(')', '%29')
    : undefined

export function htmlToMarkdown(source: string): string {
  const writer = new Writer()
  let hidden: string | undefined
  let at = 0
  while (at < source.length) {
    TOKEN.lastIndex = at
    const match = TOKEN.exec(source)
    if (!match) break
    at = TOKEN.lastIndex
    const [whole, closing, tag, inside = ''] = match
    const name = tag?.toLowerCase()
    if (hidden !== undefined) {
      if (name === hidden && closing === '/') hidden = undefined
      continue
    }
    if (name === undefined) {
      if (!whole.startsWith('<!')) writer.text(decode(whole))
    } else if (closing === '/') writer.close(name)
    else if (HIDDEN.has(name)) hidden = inside.endsWith('/') ? undefined : name
    else writer.open(name, inside)
  }
  return writer.result()
}

class Writer {
  private out: string[] = []
  private line = ''
  private lists: { ordered: boolean; count: number }[] = []
  private quotes = 0
  private preformatted = false
  private links: (string | undefined)[] = []
  private cells: string[] | undefined
  private rows = 0
  private inCell = false

  text(text: string): void {
    if (this.preformatted) {
      this.line += text
      return
    }
    const flat = text.replace(/\s+/g, ' ')
    this.line += this.line === '' || this.line.endsWith(' ') ? flat.trimStart() : flat
  }

  open(name: string, inside: string): void {
    if (name === 'br') this.flush()
    else if (name === 'pre') {
      this.flush()
      this.out.push('```')
      this.preformatted = true
    } else if (name === 'td' || name === 'th') {
      this.endCell()
      this.line = ''
      this.inCell = true
    } else if (BLOCKS.has(name)) this.block(name)
    else if (name === 'a') {
      this.links.push(safeLink(attribute(inside, 'href')))
      if (this.links.at(-1) !== undefined) this.line += '['
    } else if (name === 'img') {
      const [alt, src] = [attribute(inside, 'alt') ?? '', safeLink(attribute(inside, 'src'))]
      if (src !== undefined) this.line += `![${alt}](${src})`
    } else if (MARKS[name] !== undefined && !this.preformatted) this.line += MARKS[name]
  }

  close(name: string): void {
    if (name === 'pre') {
      this.out.push(...this.line.split('\n'), '```', '')
      this.line = ''
      this.preformatted = false
    } else if (name === 'td' || name === 'th') this.endCell()
    else if (name === 'tr') this.row()
    else if (name === 'a') {
      const href = this.links.pop()
      if (href !== undefined) this.line += `](${href})`
    } else if (MARKS[name] !== undefined && !this.preformatted) this.line = `${this.line.trimEnd()}${MARKS[name]}`
    else if (BLOCKS.has(name)) {
      this.flush()
      if (name === 'ul' || name === 'ol') this.lists.pop()
      if (name === 'blockquote') this.quotes = Math.max(0, this.quotes - 1)
      if (name !== 'li' && this.lists.length === 0) this.out.push('')
    }
  }

  private block(name: string): void {
    if (name === 'tr' && this.cells) this.row()
    this.flush()
    const list = this.lists.at(-1)
    if (name === 'ul' || name === 'ol') this.lists.push({ ordered: name === 'ol', count: 0 })
    else if (name === 'blockquote') this.quotes += 1
    else if (name === 'hr') this.out.push('---', '')
    else if (name === 'tr') this.cells = []
    else if (name === 'table') this.rows = 0
    else if (name === 'li' && list) {
      list.count += 1
      this.line = `${'  '.repeat(Math.min(20, this.lists.length) - 1)}${list.ordered ? `${list.count}.` : '-'} `
    } else if (/^h[1-6]$/.test(name)) this.line = `${'#'.repeat(Number(name[1]))} `
  }

  /** Ends the current cell. HTML does not require a closing tag for cells. */
  private endCell(): void {
    if (this.inCell) this.cells?.push(this.line.trim().replaceAll('|', '\\|'))
    this.inCell = false
  }

  private row(): void {
    this.endCell()
    const cells = this.cells ?? []
    this.cells = undefined
    this.line = ''
    if (cells.length === 0) return
    this.out.push(`| ${cells.join(' | ')} |`)
    if (this.rows === 0) this.out.push(`|${' --- |'.repeat(cells.length)}`)
    this.rows += 1
  }

  private flush(): void {
    const text = this.preformatted ? this.line : this.line.trimEnd()
    this.line = ''
    if (text.trim() === '' || /^(\s*-|\s*\d+\.|#{1,6})$/.test(text)) return
    this.out.push(`${'> '.repeat(Math.min(20, this.quotes))}${text}`)
  }

  result(): string {
    this.flush()
    return `${this.out
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim()}\n`
  }
}
