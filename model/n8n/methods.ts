import { asTime, formatted, timeMethod } from './dates.ts'
import { type Js, NotConvertible } from './js-ast.ts'
import { celOut, NULL, type Out, quote, type Type, textOf, truth } from './out.ts'

// Methods of texts, numbers, lists and objects. If texts and lists share a method name, the type of the value decides.

export type Convert = {
  (js: Js): Out
  /** Converts the body of a function with one or two parameters: an element of `list` and its position. */
  inside(list: Out, js: Js | undefined): { names: string[]; body: Out }
}

const text = (cel: string): Out => celOut(cel, 'text')
const bool = (cel: string): Out => celOut(cel, 'bool')
const list = (cel: string): Out => celOut(cel, 'list')

/** Converts a JavaScript pattern to RE2, which has no look-around and no back-references. */
export function patternText({ pattern, flags }: { pattern: string; flags: string }): string {
  if (/\(\?(?:=|!|<=|<!)|\\[1-9]|\\k</.test(pattern))
    throw new NotConvertible('a regular expression uses look-around or back-references')
  if (/\\u\{?|\\c[A-Z]/.test(pattern)) throw new NotConvertible('a regular expression uses character codes')
  const modes = [...flags].filter((flag) => 'ims'.includes(flag)).join('')
  const plain = pattern.replaceAll('\\/', '/').replaceAll('(?<', '(?P<')
  const full = modes === '' ? plain : `(?${modes})${plain}`
  if (full.length > 512) throw new NotConvertible('a regular expression is longer than 512 characters')
  return quote(full)
}

function replaced(target: Out, args: Js[], convert: Convert, all: boolean): Out {
  const [from, by] = args
  if (!from || !by || by.kind === 'function') throw new NotConvertible('a replacement is computed by a function')
  const into = convert(by)
  if (from.kind !== 'regex')
    return text(`${textOf(target)}.replace(${textOf(convert(from))}, ${textOf(into)}${all ? '' : ', 1'})`)
  const replacement =
    by.kind === 'literal' && typeof by.value === 'string'
      ? quote(
          by.value
            .replaceAll('\\', '\\\\')
            .replaceAll('$$', '\u0000')
            .replaceAll('$&', '\\0')
            .replaceAll(/\$(\d)/g, '\\$1')
            .replaceAll('\u0000', '$'),
        )
      : textOf(into)
  const limit = from.flags.includes('g') || all ? '' : ', 1'
  return text(`regex.replace(${textOf(target)}, ${patternText(from)}, ${replacement}${limit})`)
}

/** Converts a method that both texts and lists have: an unknown type is checked when the expression runs. */
const either = (target: Out, ofText: string, ofList: string, type: Type): Out => {
  if (target.type === 'text') return celOut(ofText, type)
  if (target.type === 'list') return celOut(ofList, type)
  return celOut(`(type(${target.cel}) == list ? ${ofList} : ${ofText})`, type)
}

function sliced(target: Out, name: string, args: Js[], convert: Convert): Out {
  const numbers = args.map((js) => {
    const value =
      js.kind === 'unary' && js.operator === '-' && js.operand.kind === 'literal'
        ? -Number(js.operand.value)
        : js.kind === 'literal'
          ? Number(js.value)
          : undefined
    return { value, cel: convert(js).cel }
  })
  const [from = { value: 0, cel: '0' }, to] = numbers
  const whole = textOf(target)
  if (target.type === 'list' || (target.type !== 'text' && name === 'slice' && target.holds)) {
    return list(`${target.cel}.slice(${from.cel}${to ? `, ${to.cel}` : ''})`)
  }
  if ([from, to].some((one) => one && (one.value === undefined || Number.isNaN(one.value))))
    throw new NotConvertible(`the positions of ${name}() are computed`)
  const size = `size(${whole})`
  const position = (value: number): string =>
    value < 0 ? `math.greatest(0, ${size} - ${-value})` : `math.least(${value}, ${size})`
  const end = name === 'substr' && to ? { value: from.value! + to.value! } : to
  const part = `${whole}.substring(${position(from.value!)}${end ? `, ${position(end.value!)}` : ''})`
  if (target.type === 'text' || name !== 'slice') return text(part)
  return celOut(`(type(${target.cel}) == list ? ${target.cel}.slice(${from.cel}${to ? `, ${to.cel}` : ''}) : ${part})`)
}

type Method = (target: Out, args: Js[], convert: Convert) => Out

const arg = (args: Js[], convert: Convert, at = 0): Out => (args[at] ? convert(args[at]) : NULL)

const METHODS: Record<string, Method> = {
  toLowerCase: (of) => text(`${textOf(of)}.lower()`),
  toUpperCase: (of) => text(`${textOf(of)}.upper()`),
  toLocaleLowerCase: (of) => text(`${textOf(of)}.lower()`),
  toLocaleUpperCase: (of) => text(`${textOf(of)}.upper()`),
  trim: (of) => text(`${textOf(of)}.trim()`),
  toString: (of: Out) => text(textOf(of)),
  toNumber: (of) => celOut(`double(${of.cel})`, 'number'),
  toInt: (of) => celOut(`int(${of.cel})`, 'number'),
  toFloat: (of) => celOut(`double(${of.cel})`, 'number'),
  toBoolean: (of) => bool(`(string(${of.cel}).lower() in ["true", "1", "yes"])`),
  toDateTime: (of) => asTime(of),
  toDate: (of) => asTime(of),
  toISOString: (of) => celOut(`string(${asTime(of).cel})`, 'text'),
  toJsonString: (of) => text(`json.encode(${of.cel})`),
  parseJson: (of) => celOut(`json.decode(${textOf(of)})`),
  startsWith: (of, args, convert) => bool(`${textOf(of)}.startsWith(${textOf(arg(args, convert))})`),
  endsWith: (of, args, convert) => bool(`${textOf(of)}.endsWith(${textOf(arg(args, convert))})`),
  includes: (of, args, convert) => {
    const wanted = arg(args, convert)
    return either(of, `${textOf(of)}.contains(${textOf(wanted)})`, `(${wanted.cel} in ${of.cel})`, 'bool')
  },
  indexOf: (of, args, convert) => {
    if (of.type === 'list') throw new NotConvertible('indexOf() of a list has no counterpart')
    return celOut(`${textOf(of)}.indexOf(${textOf(arg(args, convert))})`, 'number')
  },
  lastIndexOf: (of, args, convert) => celOut(`${textOf(of)}.lastIndexOf(${textOf(arg(args, convert))})`, 'number'),
  charAt: (of, args, convert) => text(`${textOf(of)}.charAt(${arg(args, convert).cel})`),
  split: (of, args, convert) => {
    if (args[0]?.kind === 'regex') {
      if (/^(\\[rn]|\\n\+|\\r\?\\n)$/.test(args[0].pattern)) return list(`${textOf(of)}.split("\\n")`)
      const marked = `regex.replace(${textOf(of)}, ${patternText(args[0])}, "\\u001f")`
      return list(`${marked}.split("\\u001f")`)
    }
    return list(`${textOf(of)}.split(${textOf(arg(args, convert))})`)
  },
  join: (of, args, convert) =>
    text(`${of.cel}.map(x, string(x)).join(${args[0] ? textOf(arg(args, convert)) : '","'})`),
  concat: (of, args, convert) => {
    const others = args.map((js) => convert(js))
    if (of.type === 'text') return text([textOf(of), ...others.map(textOf)].join(' + '))
    return list([of.cel, ...others.map(({ cel, type }) => (type === 'list' ? cel : `[${cel}].flatten()`))].join(' + '))
  },
  replace: (of, args, convert) => replaced(of, args, convert, false),
  replaceAll: (of, args, convert) => replaced(of, args, convert, true),
  slice: (of, args, convert) => sliced(of, 'slice', args, convert),
  substring: (of, args, convert) => sliced(of, 'substring', args, convert),
  substr: (of, args, convert) => sliced(of, 'substr', args, convert),
  padStart: (of, args, convert) => padded(of, args, convert),
  toFixed: (of, args) => {
    const digits = args[0]?.kind === 'literal' ? Number(args[0].value) : args.length === 0 ? 0 : Number.NaN
    if (!(digits >= 0 && digits <= 20)) throw new NotConvertible('the digits of toFixed() are computed')
    return text(`"%.${digits}f".format([${of.type === 'number' ? of.cel : `double(${of.cel})`}])`)
  },
  round: (of, args, convert) => {
    if (args.length === 0) return celOut(`math.round(${of.cel})`, 'number')
    const digits = arg(args, convert).cel
    return celOut(`double(("%." + string(${digits}) + "f").format([${of.cel}]))`, 'number')
  },
  floor: (of) => celOut(`math.floor(${of.cel})`, 'number'),
  ceil: (of) => celOut(`math.ceil(${of.cel})`, 'number'),
  abs: (of) => celOut(`math.abs(${of.cel})`, 'number'),
  isEmpty: (of) => bool(`(${of.cel} in [null, "", [], {}])`),
  isNotEmpty: (of) => bool(`!(${of.cel} in [null, "", [], {}])`),
  isEmail: (of) => bool(`${textOf(of)}.matches("^[^\\\\s@]+@[^\\\\s@]+\\\\.[^\\\\s@]+$")`),
  first: (of) => ({
    ...celOut(`${of.cel}.first().orValue(null)`),
    ...(of.holds === 'items' && { holds: 'item' as const }),
  }),
  last: (of) => ({
    ...celOut(`${of.cel}.last().orValue(null)`),
    ...(of.holds === 'items' && { holds: 'item' as const }),
  }),
  at: (of, args) => {
    const position = args[0]
    if (
      position?.kind === 'unary' &&
      position.operator === '-' &&
      position.operand.kind === 'literal' &&
      position.operand.value === 1
    )
      return METHODS.last!(of, [], undefined as never)
    if (position?.kind === 'literal' && position.value === 0) return METHODS.first!(of, [], undefined as never)
    throw new NotConvertible('at() has no counterpart')
  },
  pop: (of) => METHODS.last!(of, [], undefined as never),
  shift: (of) => METHODS.first!(of, [], undefined as never),
  reverse: (of) => either(of, `${textOf(of)}.reverse()`, `${of.cel}.reverse()`, of.type === 'text' ? 'text' : 'list'),
  flat: (of) => list(`${of.cel}.flatten()`),
  unique: (of) => list(`${of.cel}.distinct()`),
  removeDuplicates: (of) => list(`${of.cel}.distinct()`),
  compact: (of) => list(`${of.cel}.filter(x, !(x in [null, "", [], {}]))`),
  sum: (of) => celOut(`${of.cel}.sum()`, 'number'),
  average: (of) => celOut(`${of.cel}.avg()`, 'number'),
  max: (of) => celOut(`${of.cel}.max()`, 'number'),
  min: (of) => celOut(`${of.cel}.min()`, 'number'),
  pluck: (of, args) => {
    const [field] = args
    if (args.length !== 1 || field?.kind !== 'literal') throw new NotConvertible('pluck() names several fields')
    return list(`${of.cel}.map(x, x[?${quote(String(field.value))}].orValue(null))`)
  },
  map: (of, args, convert) => {
    const { names, body } = convert.inside(of, args[0])
    const [value, position] = names
    if (position === undefined) return list(`${of.cel}.map(${value}, ${body.cel})`)
    return list(`${of.cel}.transformList(${position}, ${value}, ${body.cel})`)
  },
  flatMap: (of, args, convert) => list(`${METHODS.map!(of, args, convert).cel}.flatten()`),
  filter: (of, args, convert) => {
    if (args[0]?.kind === 'name' && args[0].name === 'Boolean')
      return { ...list(`${of.cel}.filter(x, !(x in [null, false, 0, ""]))`), ...(of.holds && { holds: of.holds }) }
    const { names, body } = single(convert.inside(of, args[0]))
    return { ...list(`${of.cel}.filter(${names[0]}, ${truth(body)})`), ...(of.holds && { holds: of.holds }) }
  },
  find: (of, args, convert) => METHODS.first!(METHODS.filter!(of, args, convert), [], convert),
  some: (of, args, convert) => {
    const { names, body } = single(convert.inside(of, args[0]))
    return bool(`${of.cel}.exists(${names[0]}, ${truth(body)})`)
  },
  every: (of, args, convert) => {
    const { names, body } = single(convert.inside(of, args[0]))
    return bool(`${of.cel}.all(${names[0]}, ${truth(body)})`)
  },
  keys: (of) => list(`${of.cel}.map(k, k)`),
  values: (of) => list(`${of.cel}.map(k, ${of.cel}[k])`),
  hasField: (of, args, convert) => bool(`(${arg(args, convert).cel} in ${of.cel})`),
  hasOwnProperty: (of: Out, args: Js[], convert: Convert) => bool(`(${arg(args, convert).cel} in ${of.cel})`),
  base64Encode: (of) => text(`base64.encode(${textOf(of)})`),
  base64Decode: (of) => text(`base64.decode(${textOf(of)})`),
  urlEncode: (of) => text(`url.encode(${textOf(of)})`),
  urlDecode: (of) => text(`url.decode(${textOf(of)})`),
  hash: (of, args) => {
    if (args[0]?.kind === 'literal' && args[0].value === 'sha256') return text(`sha256(${textOf(of)})`)
    throw new NotConvertible('hash() other than sha256 has no counterpart')
  },
  removeMarkdown: () => {
    throw new NotConvertible('removeMarkdown() has no counterpart')
  },
  match: (of, args) => matched(of, args),
  test: (of, args) => {
    if (args[0]?.kind !== 'regex') throw new NotConvertible('a pattern is computed')
    return bool(`${textOf(of)}.matches(${patternText(args[0])})`)
  },
  extractEmail: (of) =>
    celOut(`regex.extract(${textOf(of)}, "[^\\\\s@<>]+@[^\\\\s@<>]+\\\\.[^\\\\s@<>]+").orValue(null)`),
}

const single = <T extends { names: string[] }>(inside: T): T => {
  if (inside.names.length > 1) throw new NotConvertible('a function uses the position of an element')
  return inside
}

/**
 * `match(/…/)` returns the whole match and its groups; `regex.extract` returns the only group, or the whole match if
 * there is no group.
 */
function matched(of: Out, args: Js[]): Out {
  const [regex] = args
  if (regex?.kind !== 'regex') throw new NotConvertible('a pattern is computed')
  const pattern = patternText(regex)
  if (regex.flags.includes('g')) {
    if (groups(regex.pattern) > 0) throw new NotConvertible('match() with /g and groups has no counterpart')
    return list(`regex.extractAll(${textOf(of)}, ${pattern})`)
  }
  const found = celOut(`regex.extract(${textOf(of)}, ${pattern}).orValue(null)`)
  const count = groups(regex.pattern)
  if (count > 1) throw new NotConvertible('match() with several groups has no counterpart')
  return {
    ...celOut(`regex.extract(${textOf(of)}, ${pattern}).optMap(x, [x]).orValue(null)`),
    fields: { [String(count)]: found },
  }
}

const groups = (pattern: string): number => (pattern.replaceAll(/\\./g, '').match(/\((?!\?)|\(\?</g) ?? []).length

function padded(of: Out, args: Js[], convert: Convert): Out {
  const [width] = args
  if (width?.kind !== 'literal' || Number(width.value) > 10)
    throw new NotConvertible('the width of padStart() is computed')
  const fill = args[1] ? textOf(convert(args[1])) : '" "'
  const whole = textOf(of)
  const missing = `lists.range(math.greatest(0, ${Number(width.value)} - size(${whole})))`
  return text(`(${missing}.map(x, ${fill}).join("") + ${whole})`)
}

export function methodOf(target: Out, name: string, args: Js[], convert: Convert): Out {
  const isTime =
    target.type === 'time' ||
    ['toFormat', 'plus', 'minus', 'toISODate', 'setZone', 'startOf', 'endOf', 'toMillis', 'getTime'].includes(name)
  if (isTime && target.type !== 'list') {
    const found = timeMethod(asTime(target), name, args, convert)
    if (found) return found
  }
  if (name === 'format' && args[0]?.kind === 'literal' && typeof args[0].value === 'string' && target.type !== 'number')
    return formatted(asTime(target), args[0].value)
  const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined
  if (!method) throw new NotConvertible(`${name.slice(0, 40)}() has no counterpart`)
  return method(target, args, convert)
}
