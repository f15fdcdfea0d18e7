// CEL's grammar, by recursive descent. Limits are checked before the tree is built, because expressions come from
// tenants.

import type { Ast, BinaryOp } from './cel-ast.ts'
import { invalid, place, type Token, tokensOf } from './cel-lexer.ts'

const MAX_EXPRESSION_LENGTH = 4_096
const MAX_PARTS = 2_000
const MAX_NESTING = 60
const MAX_CHAIN = 60
const MAX_LIST = 1_000
const MAX_ENTRIES = 500
const MAX_ARGUMENTS = 8

const RESERVED: ReadonlySet<string> = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)

/** Operators by precedence, the lowest first. */
const LEVELS: readonly ReadonlySet<string>[] = [
  new Set(['||']),
  new Set(['&&']),
  new Set(['==', '!=', '<', '<=', '>', '>=', 'in']),
  new Set(['+', '-']),
  new Set(['*', '/', '%']),
]

/** Parses an expression. Throws an ExpressionFailure with the position of the error. */
export function parseCel(text: string): Ast {
  if (text.length > MAX_EXPRESSION_LENGTH) {
    throw invalid(`an expression has at most ${MAX_EXPRESSION_LENGTH} characters`)
  }
  return new Parser(tokensOf(text)).whole()
}

class Parser {
  private readonly tokens: Token[]
  private at = 0
  private parts = 0
  private nesting = 0

  constructor(tokens: Token[]) {
    this.tokens = tokens
  }

  whole(): Ast {
    const tree = this.expression()
    if (this.next.kind !== 'end') throw this.unexpected()
    return tree
  }

  private get next(): Token {
    return this.tokens[this.at] as Token
  }

  private unexpected(): Error {
    const { kind, value, start } = this.next
    if (kind === 'end') return invalid(`the expression ends too early${place(start)}`)
    return invalid(`unexpected ${JSON.stringify(value).slice(0, 60)}${place(start)}`)
  }

  private is(sign: string): boolean {
    return this.next.kind === 'sign' && this.next.value === sign
  }

  private skip(sign: string): boolean {
    if (!this.is(sign)) return false
    this.at += 1
    return true
  }

  private expect(sign: string): void {
    if (!this.skip(sign)) throw this.unexpected()
  }

  private made(tree: Ast): Ast {
    this.parts += 1
    if (this.parts > MAX_PARTS) throw invalid(`an expression may have at most ${MAX_PARTS} parts`)
    return tree
  }

  private nested<T>(parse: () => T): T {
    this.nesting += 1
    if (this.nesting > MAX_NESTING) throw invalid(`the expression is nested too deeply${place(this.next.start)}`)
    const result = parse()
    this.nesting -= 1
    return result
  }

  private expression(): Ast {
    return this.nested(() => {
      const condition = this.binary(0)
      if (!this.skip('?')) return condition
      const yes = this.expression()
      this.expect(':')
      return this.made({ op: '?:', args: [condition, yes, this.expression()], start: condition.start })
    })
  }

  private binary(level: number): Ast {
    const operators = LEVELS[level]
    if (!operators) return this.unary()
    let left = this.binary(level + 1)
    for (;;) {
      const { kind, value } = this.next
      if (kind !== 'sign' || !operators.has(value)) return left
      this.at += 1
      const right = this.binary(level + 1)
      left = this.made({ op: value as BinaryOp, args: [left, right], start: left.start })
    }
  }

  private unary(): Ast {
    const { start } = this.next
    const signs: ('!_' | '-_')[] = []
    while (this.is('!') || this.is('-')) {
      signs.push(this.is('!') ? '!_' : '-_')
      this.at += 1
      if (signs.length > 50) throw invalid('too many unary operators in a row')
    }
    return signs.reduceRight<Ast>((args, op) => this.made({ op, args, start }), this.postfix())
  }

  private postfix(): Ast {
    let tree = this.primary()
    for (let length = 0; ; length += 1) {
      if (length > MAX_CHAIN) throw invalid(`the expression is nested too deeply${place(this.next.start)}`)
      const { start } = tree
      if (this.is('.') || this.is('?.')) {
        const optional = this.skip('?.') || (this.skip('.') && this.skip('?'))
        const field = this.name()
        if (!optional && !field.quoted && this.skip('(')) {
          tree = this.made({ op: 'rcall', args: [field.value, tree, this.list(')', MAX_ARGUMENTS)], start })
        } else tree = this.made({ op: optional ? '.?' : '.', args: [tree, field.value], start })
      } else if (this.skip('[')) {
        const op = this.skip('?') ? '[?]' : '[]'
        const key = this.expression()
        this.expect(']')
        tree = this.made({ op, args: [tree, key], start })
      } else return tree
    }
  }

  private name(): Token & { kind: 'name' } {
    const token = this.next
    if (token.kind !== 'name') throw this.unexpected()
    this.at += 1
    return token
  }

  private primary(): Ast {
    const token = this.next
    const { start } = token
    if (token.kind === 'value') {
      this.at += 1
      return this.made({ op: 'value', args: token.value, start })
    }
    if (token.kind === 'name') {
      if (token.quoted) throw invalid(`a name in backquotes is allowed only after a dot${place(start)}`)
      if (RESERVED.has(token.value)) throw invalid(`"${token.value}" is a reserved word${place(start)}`)
      this.at += 1
      if (!this.skip('(')) return this.made({ op: 'id', args: token.value, start })
      return this.made({ op: 'call', args: [token.value, this.list(')', MAX_ARGUMENTS)], start })
    }
    if (this.skip('(')) {
      const inner = this.expression()
      this.expect(')')
      return inner
    }
    if (this.skip('[')) {
      const optional = new Set<number>()
      return this.made({ op: 'list', args: this.list(']', MAX_LIST, optional), optional, start })
    }
    if (this.skip('{')) return this.map(start)
    throw this.unexpected()
  }

  /** Parses elements up to and including the closing sign. A comma may follow the last element. */
  private list(closing: string, limit: number, optional?: Set<number>): Ast[] {
    const items: Ast[] = []
    while (!this.skip(closing)) {
      if (items.length > 0) this.expect(',')
      if (items.length > 0 && this.skip(closing)) break
      if (items.length >= limit) throw invalid(`at most ${limit} elements are allowed here${place(this.next.start)}`)
      if (optional && this.skip('?')) optional.add(items.length)
      items.push(this.expression())
    }
    return items
  }

  private map(start: number): Ast {
    const entries: [Ast, Ast][] = []
    const optional = new Set<number>()
    while (!this.skip('}')) {
      if (entries.length > 0) this.expect(',')
      if (entries.length > 0 && this.skip('}')) break
      if (entries.length >= MAX_ENTRIES)
        throw invalid(`a map has at most ${MAX_ENTRIES} entries${place(this.next.start)}`)
      if (this.skip('?')) optional.add(entries.length)
      const key = this.expression()
      this.expect(':')
      entries.push([key, this.expression()])
    }
    return this.made({ op: 'map', args: entries, optional, start })
  }
}
