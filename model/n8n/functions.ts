import { luxonCall } from './dates.ts'
import { type Js, NotConvertible } from './js-ast.ts'
import { type Convert, methodOf } from './methods.ts'
import { orElse } from './operators.ts'
import { asItems, celOut, NULL, type Out, textOf, truth } from './out.ts'
import type { Scope } from './scope.ts'

/** Converts `$('Name')`, `$if(…)`, `parseInt(x)` … */
export function functionCall(name: string, args: Js[], scope: Scope, convert: Convert): Out {
  const [first] = args
  if (name === '$' || name === '$items') {
    if (first?.kind === 'literal' && typeof first.value === 'string') {
      const view = scope.node(first.value)
      return name === '$' ? { ...NULL, view } : asItems(view.list)
    }
    if (name === '$items' && !first) return asItems(scope.input.list)
    throw new NotConvertible('the name of a node is computed')
  }
  if (name === '$fromAI') {
    if (!scope.filledByModel || first?.kind !== 'literal')
      throw new NotConvertible('$fromAI lets a model fill in an argument')
    return scope.filledByModel(String(first.value))
  }
  if (name === '$if' && args.length === 3)
    return convert({ kind: 'choice', test: args[0]!, yes: args[1]!, no: args[2]! })
  if (name === '$ifEmpty' && args.length === 2) return orElse(args[0]!, args[1]!, '[null, "", [], {}]', convert)
  if ((name === '$max' || name === '$min') && args.length > 0)
    return celOut(
      `math.${name === '$max' ? 'greatest' : 'least'}(${args.map((js) => convert(js).cel).join(', ')})`,
      'number',
    )
  const of = first ? convert(first) : NULL
  if (name === 'Number' || name === 'parseFloat')
    return of.type === 'number' ? of : celOut(`double(${of.cel})`, 'number')
  if (name === 'parseInt') return celOut(`int(${of.cel})`, 'number')
  if (name === 'String') return celOut(textOf(of), 'text')
  if (name === 'Boolean') return celOut(`(${truth(of)})`, 'bool')
  if (name === 'encodeURIComponent' || name === 'encodeURI') return celOut(`url.encode(${textOf(of)})`, 'text')
  if (name === 'decodeURIComponent') return celOut(`url.decode(${textOf(of)})`, 'text')
  if (name === 'btoa') return celOut(`base64.encode(${textOf(of)})`, 'text')
  if (name === 'atob') return celOut(`base64.decode(${textOf(of)})`, 'text')
  if (name === 'isNaN') return celOut(`math.isNaN(double(${of.cel}))`, 'bool')
  throw new NotConvertible(`${name.slice(0, 40)}() has no counterpart`)
}

/** Converts `JSON.stringify(x)`, `Math.round(x)`, `DateTime.now()` … */
export function libraryCall(name: string, key: string, args: Js[], convert: Convert): Out | undefined {
  const of = (at = 0): Out => (args[at] ? convert(args[at]) : NULL)
  if (name === 'JSON' && key === 'stringify') return celOut(`json.encode(${of().cel})`, 'text')
  if (name === 'JSON' && key === 'parse') return celOut(`json.decode(${textOf(of())})`)
  if (name === 'DateTime') return luxonCall(key, args, convert)
  if (name === 'Date' && key === 'now') return luxonMillis()
  if (name === 'Array' && key === 'isArray') return celOut(`(type(${of().cel}) == list)`, 'bool')
  if (name === 'Array' && key === 'from') return { ...of(), type: 'list' }
  if (name === 'Object' && ['keys', 'values'].includes(key)) return methodOf(of(), key, [], convert)
  if (name === 'Object' && key === 'entries') return celOut(`${of().cel}.map(k, [k, ${of().cel}[k]])`, 'list')
  if (name === 'Number' && key === 'parseFloat') return celOut(`double(${of().cel})`, 'number')
  if (name === 'Number' && key === 'isInteger') return celOut(`(${of().cel} == math.floor(${of().cel}))`, 'bool')
  if (name === 'Math') return mathCall(key, args, convert)
  if (
    ['$execution', '$workflow', '$vars', '$env', '$jmespath', 'crypto', 'Object', 'Number', 'Array', 'String'].includes(
      name,
    )
  )
    throw new NotConvertible(`${name}.${key.slice(0, 40)}() has no counterpart`)
  return undefined
}

function mathCall(key: string, args: Js[], convert: Convert): Out {
  const cels = args.map((js) => convert(js).cel)
  const simple = {
    floor: 'floor',
    ceil: 'ceil',
    round: 'round',
    abs: 'abs',
    trunc: 'trunc',
    sign: 'sign',
    sqrt: 'sqrt',
    max: 'greatest',
    min: 'least',
  }[key]
  if (simple === undefined || cels.length === 0)
    throw new NotConvertible(`Math.${key.slice(0, 40)}() has no counterpart`)
  return celOut(`math.${simple}(${cels.join(', ')})`, 'number')
}

const luxonMillis = (): Out => celOut('now().difference(timestamp("1970-01-01T00:00:00Z"), "millisecond")', 'number')
