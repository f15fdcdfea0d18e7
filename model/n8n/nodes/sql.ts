import { NotConvertible } from '../js-ast.ts'
import { piecesOf } from '../pieces.ts'

// Converts n8n statements, which contain values as {{ expressions }}, to statements with parameters. Data never becomes
// part of the text.

export type Dialect = { name: string; parameter(number: number): string; quote(name: string): string; joins: string }

const doubled = (name: string): string => `"${name.replaceAll('"', '""')}"`
export const POSTGRES: Dialect = { name: 'PostgreSQL', parameter: (n) => `$${n}`, quote: doubled, joins: '||' }
export const MYSQL: Dialect = {
  name: 'MySQL',
  parameter: () => '?',
  quote: (name) => `\`${name.replaceAll('`', '``')}\``,
  joins: 'concat',
}
export const SQL_SERVER: Dialect = {
  name: 'SQL Server',
  parameter: (n) => `@p${n}`,
  quote: (name) => `[${name.replaceAll(']', ']]')}]`,
  joins: 'concat',
}
export const SNOWFLAKE: Dialect = { name: 'Snowflake', parameter: () => '?', quote: doubled, joins: '||' }

/**
 * A value of a statement: an expression, which is a text if it is between quotes, or a parameter that already has a
 * number.
 */
export type Value = { source: string; isText: boolean } | { number: number }
export type Statement = { text: string; values: Value[] }

/** Places where a value without quotes is allowed. */
const BEFORE_VALUE = /(?:[=<>(,+\-*/|]|\b(?:limit|offset|like|ilike|between|values|then|else|interval))\s*$/i
const IN_LIST = /\bin\s*\(\s*$/i

class Reader {
  readonly statements: Statement[] = []
  private readonly dialect: Dialect
  private text = ''
  private values: Value[] = []
  /** The parts of the quoted text that is being read. */
  private quoted: (string | Value)[] | undefined
  private closes = ''

  constructor(dialect: Dialect) {
    this.dialect = dialect
  }

  private add(value: Value): string {
    this.values.push(value)
    return this.dialect.parameter(this.values.length)
  }

  expression(source: string): void {
    if (this.quoted) {
      this.quoted.push({ source, isText: true })
      return
    }
    if (this.closes !== '') throw new NotConvertible('a name or a comment of its statement is computed')
    if (!BEFORE_VALUE.test(this.text) || IN_LIST.test(this.text))
      throw new NotConvertible('a part of its statement is computed')
    this.text += this.add({ source, isText: false })
  }

  /** Lets the database concatenate `'a {{ b }} c'`. */
  private endQuoted(): void {
    const parts = this.quoted!.filter((part) => part !== '')
    const { joins, name } = this.dialect
    const shown = parts.map((part) =>
      typeof part === 'string'
        ? `'${part}'`
        : `${this.add(part)}${name === 'PostgreSQL' && parts.length > 1 ? '::text' : ''}`,
    )
    this.quoted = undefined
    if (shown.length === 0) this.text += "''"
    else if (shown.length === 1) this.text += shown[0]
    else this.text += joins === 'concat' ? `concat(${shown.join(', ')})` : `(${shown.join(' || ')})`
  }

  private push(part: string): void {
    if (this.quoted) {
      const last = this.quoted.at(-1)
      if (typeof last === 'string') this.quoted[this.quoted.length - 1] = last + part
      else this.quoted.push(part)
    } else this.text += part
  }

  /** Reads plain text. The contents of texts, names and comments stay unchanged. */
  plain(given: string): void {
    for (const part of given.match(/''|\$\d+|\$\w*\$|--|\/\*|\*\/|[\s\S]/g) ?? []) {
      if (this.quoted) {
        if (part === "'") this.endQuoted()
        else this.push(part)
      } else if (this.closes !== '') {
        this.text += part
        if (part === this.closes) this.closes = ''
      } else if (part === "'") this.quoted = []
      else if (part === "''") this.text += part
      else if (part === ';') this.end()
      else if (/^\$\d+$/.test(part)) this.text += this.add({ number: Number(part.slice(1)) })
      else {
        const open: Record<string, string> = { '"': '"', '`': '`', '--': '\n', '/*': '*/' }
        this.closes = /^\$\w*\$$/.test(part) ? part : (open[part] ?? '')
        this.text += part
      }
    }
  }

  end(): void {
    if (this.quoted) throw new NotConvertible('a text of its statement does not end')
    const text = this.text.trim()
    if (text.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, '').trim() !== '')
      this.statements.push({ text, values: this.values })
    this.text = ''
    this.values = []
    this.closes = ''
  }
}

export function statementsOf(query: string, dialect: Dialect): Statement[] {
  const reader = new Reader(dialect)
  const isTemplate = query.startsWith('=') || query.includes('{{')
  const pieces = isTemplate ? piecesOf(query.replace(/^=/, '')) : [{ text: query }]
  const isComputed = pieces.every((piece) => ('text' in piece ? piece.text.trim() === '' : true))
  if (isComputed && pieces.length > 0) throw new NotConvertible('its statement is computed')
  for (const piece of pieces)
    if ('text' in piece) reader.plain(piece.text)
    else if (piece.source !== '') reader.expression(piece.source)
  reader.end()
  return reader.statements
}

const bare = (text: string): string => text.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g, ' ').trim()

/** Checks by its keywords whether a statement only reads. */
export const isReading = ({ text }: Statement): boolean => {
  const words = bare(text)
  return (
    /^\(?\s*(?:select|with|show|explain|values|describe|desc|table)\b/i.test(words) &&
    !/\b(?:insert\s+into|update\s+\S+\s+set|delete\s+from|merge\s+into|into\s+(?:outfile|temp|table))\b/i.test(words)
  )
}
export const isReturning = ({ text }: Statement): boolean => /\breturning\b|\boutput\s+inserted\b/i.test(bare(text))
