import { type Js, NotConvertible } from './js-ast.ts'
import { type Token, tokensOf } from './js-lexer.ts'

const MAX_LENGTH = 20_000
const MAX_DEPTH = 60

const PRECEDENCE: Record<string, number> = {
  '??': 1,
  '||': 2,
  '&&': 3,
  ...{ '==': 4, '!=': 4, '===': 4, '!==': 4 },
  ...{ '<': 5, '<=': 5, '>': 5, '>=': 5 },
  ...{ '+': 6, '-': 6 },
  ...{ '*': 7, '/': 7, '%': 7 },
}

/** Parses one JavaScript expression. Statements, assignments and spreads are refused. */
export function parseJs(source: string, depth = 0): Js {
  if (source.length > MAX_LENGTH) throw new NotConvertible(`an expression is longer than ${MAX_LENGTH} characters`)
  const parser = new Parser(tokensOf(source.replace(/;\s*$/, '')), depth)
  const tree = parser.expression()
  parser.expectEnd()
  return tree
}

class Parser {
  private at = 0
  private readonly tokens: Token[]
  private depth: number

  constructor(tokens: Token[], depth: number) {
    this.tokens = tokens
    this.depth = depth
  }

  private get token(): Token {
    return this.tokens[this.at]!
  }

  private isSign(value: string, token: Token | undefined = this.token): boolean {
    return token?.kind === 'sign' && token.value === value
  }

  private take(value: string): boolean {
    if (!this.isSign(value)) return false
    this.at += 1
    return true
  }

  private expect(value: string): void {
    if (!this.take(value)) throw new NotConvertible(`"${value}" is expected in the expression`)
  }

  expectEnd(): void {
    if (this.token.kind === 'end') return
    throw new NotConvertible('it contains statements instead of one expression')
  }

  expression(): Js {
    this.depth += 1
    if (this.depth > MAX_DEPTH) throw new NotConvertible('an expression is nested too deeply')
    const arrow = this.arrow()
    const tree = arrow ?? this.choice()
    this.depth -= 1
    return tree
  }

  private choice(): Js {
    const test = this.binary(0)
    if (!this.take('?')) return test
    const yes = this.expression()
    this.expect(':')
    return { kind: 'choice', test, yes, no: this.expression() }
  }

  private binary(above: number): Js {
    let left = this.unary()
    while (true) {
      const token = this.token
      if (token.kind === 'name' && (token.value === 'instanceof' || token.value === 'in'))
        throw new NotConvertible(`the operator ${token.value} has no counterpart`)
      const precedence = token.kind === 'sign' ? PRECEDENCE[token.value] : undefined
      if (token.kind !== 'sign' || precedence === undefined || precedence <= above) {
        if (token.kind === 'sign' && /^(\*\*|<<|>>|>>>|&|\||\^|=|[-+*/]=|\+\+|--)$/.test(token.value))
          throw new NotConvertible(`the operator ${token.value} has no counterpart`)
        return left
      }
      this.at += 1
      left = { kind: 'binary', operator: token.value, left, right: this.binary(precedence) }
    }
  }

  private unary(): Js {
    const { token } = this
    if (token.kind === 'sign' && ['!', '-', '+'].includes(token.value)) {
      this.at += 1
      return this.deeper(() => ({ kind: 'unary', operator: token.value, operand: this.unary() }))
    }
    if (token.kind === 'name' && ['typeof', 'await', 'void', 'delete', 'function', 'async'].includes(token.value)) {
      if (token.value !== 'typeof') throw new NotConvertible(`"${token.value}" has no counterpart`)
      this.at += 1
      return this.deeper(() => ({ kind: 'unary', operator: 'typeof', operand: this.unary() }))
    }
    return this.postfix(this.primary())
  }

  private deeper(read: () => Js): Js {
    this.depth += 1
    if (this.depth > MAX_DEPTH) throw new NotConvertible('an expression is nested too deeply')
    const tree = read()
    this.depth -= 1
    return tree
  }

  private postfix(start: Js): Js {
    let tree = start
    for (let count = 0; ; count += 1) {
      if (count > 200) throw new NotConvertible('an expression is too long')
      if (this.take('?.')) {
        if (this.isSign('(') || this.isSign('[')) continue
        tree = { kind: 'member', object: tree, key: this.name() }
      } else if (this.take('.')) tree = { kind: 'member', object: tree, key: this.name() }
      else if (this.take('[')) tree = this.indexed(tree)
      else if (this.take('(')) tree = { kind: 'call', callee: tree, args: this.listUntil(')') }
      else return tree
    }
  }

  private indexed(object: Js): Js {
    const index = this.expression()
    this.expect(']')
    if (index.kind === 'literal' && (typeof index.value === 'string' || typeof index.value === 'number'))
      return { kind: 'member', object, key: index.value }
    return { kind: 'index', object, index }
  }

  private name(): string {
    const { token } = this
    if (token.kind !== 'name') throw new NotConvertible('a name is expected after a dot')
    this.at += 1
    return token.value
  }

  private listUntil(end: string): Js[] {
    const items: Js[] = []
    while (!this.take(end)) {
      if (this.isSign('...')) throw new NotConvertible('"..." has no counterpart')
      items.push(this.expression())
      if (!this.isSign(end)) this.expect(',')
    }
    return items
  }

  private primary(): Js {
    const { token } = this
    this.at += 1
    switch (token.kind) {
      case 'number':
      case 'string':
        return { kind: 'literal', value: token.value }
      case 'regex':
        return { kind: 'regex', pattern: token.pattern, flags: token.flags }
      case 'template':
        return {
          kind: 'template',
          texts: token.texts,
          parts: token.sources.map((source) => parseJs(source, this.depth + 1)),
        }
      case 'name':
        return this.named(token.value)
      case 'sign':
        return this.bracketed(token.value)
      case 'end':
        throw new NotConvertible('an expression ends too early')
    }
  }

  private named(name: string): Js {
    if (name === 'true' || name === 'false') return { kind: 'literal', value: name === 'true' }
    if (name === 'null' || name === 'undefined') return { kind: 'literal', value: null }
    if (name !== 'new') return { kind: 'name', name }
    let callee: Js = this.primary()
    while (this.take('.')) callee = { kind: 'member', object: callee, key: this.name() }
    return { kind: 'new', callee, args: this.take('(') ? this.listUntil(')') : [] }
  }

  private bracketed(sign: string): Js {
    if (sign === '(') {
      const inner = this.expression()
      this.expect(')')
      return inner
    }
    if (sign === '[') return { kind: 'list', items: this.listUntil(']') }
    if (sign === '{') return this.object()
    throw new NotConvertible(`"${sign}" is not understood in the expression`)
  }

  private object(): Js {
    const entries: { key: string; value: Js }[] = []
    while (!this.take('}')) {
      const { token } = this
      this.at += 1
      if (token.kind !== 'name' && token.kind !== 'string' && token.kind !== 'number')
        throw new NotConvertible('an object has a computed key')
      const key = String(token.value)
      if (this.take(':')) entries.push({ key, value: this.expression() })
      else if (token.kind === 'name') entries.push({ key, value: this.named(token.value) })
      else throw new NotConvertible('an object has a key without a value')
      if (!this.isSign('}')) this.expect(',')
    }
    return { kind: 'object', entries }
  }

  /** Parses `x => …` and `(x, i) => …` whose body is an expression. */
  private arrow(): Js | undefined {
    const params = this.params()
    if (params === undefined) return undefined
    if (this.isSign('{')) return this.block(params)
    return { kind: 'function', params, body: this.expression() }
  }

  private block(params: string[]): Js {
    this.expect('{')
    const { token } = this
    if (token.kind !== 'name' || token.value !== 'return') throw new NotConvertible('a function contains statements')
    this.at += 1
    const body = this.expression()
    this.take(';')
    if (!this.take('}')) throw new NotConvertible('a function contains statements')
    return { kind: 'function', params, body }
  }

  private params(): string[] | undefined {
    const { token } = this
    if (token.kind === 'name' && this.isSign('=>', this.tokens[this.at + 1])) {
      this.at += 2
      return [token.value]
    }
    if (!this.isSign('(')) return undefined
    const names: string[] = []
    let at = this.at + 1
    while (true) {
      const next = this.tokens[at]
      if (this.isSign(')', next) && this.isSign('=>', this.tokens[at + 1])) {
        this.at = at + 2
        return names
      }
      if (next?.kind !== 'name') return undefined
      names.push(next.value)
      at += 1
      if (this.isSign(',', this.tokens[at])) at += 1
    }
  }
}
