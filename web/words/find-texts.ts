import { parseSync } from 'vite'

// Finds the texts of the console. Developers write texts in English where they are shown. The build passes each text
// that this module finds through the catalogue (`web/words/language.ts`), and a check (`web/words/catalogue.ts`) finds
// those without a translation. Only literals are found: text written by a tenant is never translated.
//
// A text is: the content between tags, the value of a visible property (`label`, `title`, …), and a literal that looks
// like a text: it starts with a capitalized word that is followed by a space, punctuation or the end. Literals in
// comparisons, imports and class names are not texts.

/** Visible properties of an element or of an object that describes one. */
const SHOWN = new Set(
  `label title description hint submit aria-label action consequence placeholder section nothing lead heading what one everything
  nobody empty alt summary done failed header detail shown add can needs question button use where find connect ready caption
  legend aside never unit sub note why reason placeholderText words cell content tell facts`.split(/\s+/),
)
/** Properties whose values are read by programs, even if they look like text. */
const HIDDEN = new Set(
  `className class name value id key type kind to href path role mode style d icon lang rel target method language tone look size
  autoComplete inputMode pattern accept as align width height variant code color colour test testid data-testid`.split(
    /\s+/,
  ),
)
/** Functions whose texts are shown to users. */
const TELLING = /^(toast\.(done|failed|tell)|plural|t|useTitle)$/
/** Functions whose arguments are read by programs. */
const PROGRAMS =
  /(^|\.)(querySelector(All)?|getElementById|addEventListener|removeEventListener|createElement|setAttribute|getAttribute|getItem|setItem|removeItem|startsWith|endsWith|includes|indexOf|split|replace|replaceAll|match|test|has|get|set|delete|join|format|DateTimeFormat|NumberFormat|RelativeTimeFormat|PluralRules|api\.\w+|useApi|useList|useAll|useChange|query|invalidate|cx|describe|it|RegExp|URL|fetch|import|define|setData|getData|closest|matches)$/

/** Files whose literals are data: offered workflows, samples, keys. */
const DATA =
  /(\.test\.tsx?|\/testing\.ts|features\/workflows\/(gallery\/[^/]*\.ts$|starters)|words\/|vite\.config|editor\/(run\/sample|code\/(languages|look|mount|program-completion)))/

type Ast = { type: string; start: number; end: number; [field: string]: unknown }

/** `text` contains {0}, {1} … in place of values. */
export type Found = {
  text: string
  start: number
  end: number
  values: [start: number, end: number][]
  form: 'jsx' | 'attribute' | 'value'
}

/** Addresses, code examples and style classes are the same in every language. */
const ISNT =
  /^(https?:|select |has\(|size\(|true$|false$|null$)|@example|example\.com|px$|(^| )(py|px|bg|text|border)-|^record\.|^[a-z]+([-_./][a-z\d]+)+$/
const hasWords = (text: string): boolean => /\p{L}{2}/u.test(text) && !ISNT.test(text)
const readsLikeText = (text: string): boolean =>
  !ISNT.test(text) &&
  /^\p{Lu}[\p{L}\p{M}\d’'-]*([ ,:;.…?!–(/]|$)/u.test(text) &&
  /\p{Ll}/u.test(text) &&
  !/^[A-Z][a-z]+[A-Z]/.test(text) &&
  !/[=<>{}\\]|:\/\/|^\w+\.\w+\(/.test(text)
const isSentence = (text: string): boolean => readsLikeText(text) && / /.test(text.trim())

/** Returns the text between tags as React shows it: lines are trimmed and joined by one space. */
export function shownBetween(raw: string): { lead: string; text: string; trail: string } {
  const lines = raw.split('\n')
  const joined = lines
    .map((line, at) => {
      const begun = at === 0 ? line : line.trimStart()
      return at === lines.length - 1 ? begun : begun.trimEnd()
    })
    .filter((line) => line !== '')
    .join(' ')
  const text = joined.trim()
  if (text === '') return { lead: '', text: '', trail: '' }
  const at = joined.indexOf(text)
  return { lead: joined.slice(0, at), text, trail: joined.slice(at + text.length) }
}

const entities: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: '\u00a0',
  rarr: '→',
  hellip: '…',
}
const withEntities = (text: string): string =>
  text.replaceAll(/&(\w+);/g, (whole, name: string) => entities[name] ?? whole)

const nameOf = (node: Ast | undefined): string => {
  if (!node) return ''
  if (node.type === 'Identifier' || node.type === 'JSXIdentifier') return String(node.name)
  if (node.type === 'Literal') return String(node.value)
  if (node.type === 'MemberExpression') return `${nameOf(node.object as Ast)}.${nameOf(node.property as Ast)}`
  return ''
}

const isAst = (value: unknown): value is Ast =>
  typeof value === 'object' && value !== null && typeof (value as Ast).type === 'string'

export function textsIn(file: string, source: string): Found[] {
  if (DATA.test(file)) return []
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`)
  const found: Found[] = []

  const add = (node: Ast, text: string, form: Found['form'], values: Found['values'] = []): void => {
    found.push({ text, start: node.start, end: node.end, values, form })
  }

  /** Handles a literal. `shown`: it is in a place where a text is expected. `single`: one word is enough. */
  function literal(node: Ast, shown: boolean, single: boolean, form: Found['form']): void {
    if (node.type === 'Literal' && typeof node.value === 'string') {
      const text = form === 'attribute' ? withEntities(node.value) : node.value
      if (shown ? hasWords(text) : isSentence(text) || (single && readsLikeText(text))) add(node, text, form)
      return
    }
    if (node.type === 'Literal') return
    const quasis = node.quasis as { value: { cooked: string } }[]
    const expressions = node.expressions as Ast[]
    const text = quasis.map(({ value }, at) => (at === 0 ? value.cooked : `{${at - 1}}${value.cooked}`)).join('')
    const words = quasis.map(({ value }) => value.cooked).join(' ')
    const isShown = shown
      ? hasWords(words) && / \p{L}|\p{L} |[.?!:]/u.test(words)
      : isSentence(text.replaceAll(/\{\d\}/g, 'X')) && /\p{L}{2}\p{P}? | \p{L}{2}/u.test(words)
    if (isShown && !ISNT.test(words.trim()))
      add(
        node,
        text,
        'value',
        expressions.map(({ start, end }) => [start, end]),
      )
    for (const inner of expressions) walk(inner, { shown: false })
  }

  type Place = { shown: boolean; single?: boolean }

  function walk(node: Ast, place: Place): void {
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ExportAllDeclaration':
      case 'TSTypeAliasDeclaration':
      case 'TSInterfaceDeclaration':
      case 'TSTypeAnnotation':
      case 'TSTypeParameterInstantiation':
      case 'TSTypeParameterDeclaration':
      case 'ImportExpression':
        return
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
      case 'JSXExpressionContainer':
      case 'ParenthesizedExpression':
      case 'SpreadElement':
        walk((node.expression ?? node.argument) as Ast, place)
        return
      case 'JSXText': {
        const { text } = shownBetween(withEntities(String(node.raw ?? node.value)))
        if (hasWords(text)) add(node, text, 'jsx')
        return
      }
      case 'JSXAttribute': {
        const name = nameOf(node.name as Ast)
        const value = node.value as Ast | null
        if (!value) return
        if (name === 'className' || name === 'style') return
        if (HIDDEN.has(name)) {
          if (value.type === 'JSXExpressionContainer') nested(value)
          return
        }
        const shown = SHOWN.has(name) || name === 'aria-label'
        if (value.type === 'Literal') literal(value, shown, false, 'attribute')
        else walk(value, { shown })
        return
      }
      case 'JSXElement':
      case 'JSXFragment': {
        const opening = node.openingElement as Ast | undefined
        const tag = opening ? nameOf(opening.name as Ast) : ''
        for (const attribute of (opening?.attributes as Ast[] | undefined) ?? []) walk(attribute, { shown: false })
        if (tag === 'code' || tag === 'kbd' || tag === 'pre' || tag === 'style') {
          for (const child of node.children as Ast[]) if (child.type !== 'JSXText') walk(child, { shown: false })
          return
        }
        for (const child of node.children as Ast[]) walk(child, { shown: true })
        return
      }
      case 'Literal':
        literal(node, place.shown, place.single ?? false, 'value')
        return
      case 'TemplateLiteral':
        literal(node, place.shown, false, 'value')
        return
      case 'TaggedTemplateExpression':
        return
      case 'ConditionalExpression':
        nested(node.test as Ast)
        walk(node.consequent as Ast, place)
        walk(node.alternate as Ast, place)
        return
      case 'LogicalExpression':
        if (node.operator === '??' || node.operator === '||') walk(node.left as Ast, place)
        else nested(node.left as Ast)
        walk(node.right as Ast, place)
        return
      case 'BinaryExpression':
        if (node.operator === '+') {
          walk(node.left as Ast, place)
          walk(node.right as Ast, place)
        } else {
          for (const side of [node.left, node.right] as Ast[])
            if (side.type !== 'Literal' && side.type !== 'TemplateLiteral') walk(side, { shown: false })
        }
        return
      case 'SwitchCase':
        for (const inner of node.consequent as Ast[]) walk(inner, { shown: false })
        return
      case 'Property': {
        const name = nameOf(node.key as Ast)
        if (node.computed) nested(node.key as Ast)
        const value = node.value as Ast
        if (HIDDEN.has(name)) {
          if (value.type !== 'Literal' && value.type !== 'TemplateLiteral') walk(value, { shown: false })
          return
        }
        walk(value, { shown: SHOWN.has(name), single: true })
        return
      }
      case 'VariableDeclarator':
        walk(node.id as Ast, { shown: false }) // a pattern has default values: `const { submit = 'Send' } = props`
        if (node.init) walk(node.init as Ast, { shown: SHOWN.has(nameOf(node.id as Ast)) })
        return
      case 'AssignmentPattern':
        walk(node.right as Ast, { shown: SHOWN.has(nameOf(node.left as Ast)) })
        return
      case 'MemberExpression':
        walk(node.object as Ast, { shown: false })
        if (node.computed && (node.property as Ast).type !== 'Literal') walk(node.property as Ast, { shown: false })
        return
      case 'NewExpression':
      case 'CallExpression': {
        const callee = nameOf(node.callee as Ast)
        walk(node.callee as Ast, { shown: false })
        const shown = TELLING.test(callee)
        for (const argument of node.arguments as Ast[]) {
          const isText = argument.type === 'Literal' || argument.type === 'TemplateLiteral'
          if (isText && PROGRAMS.test(callee)) continue
          if (callee === 't' && argument.type === 'Literal') {
            // An explicit call of `t`: the text is in the catalogue and needs no second call.
            found.push({ text: String(argument.value), start: -1, end: -1, values: [], form: 'value' })
            continue
          }
          walk(argument, { shown })
        }
        return
      }
      case 'ArrowFunctionExpression':
        for (const parameter of node.params as Ast[]) walk(parameter, { shown: false })
        walk(node.body as Ast, (node.body as Ast).type === 'BlockStatement' ? { shown: false } : place)
        return
      default:
        nested(node, node.type === 'ArrayExpression' ? place : { shown: false })
    }
  }

  function nested(node: Ast, place: Place = { shown: false }): void {
    for (const value of Object.values(node)) {
      if (Array.isArray(value)) {
        for (const inner of value) if (isAst(inner)) walk(inner, place)
      } else if (isAst(value)) walk(value, place)
    }
  }

  nested(program as unknown as Ast)
  return found
}
