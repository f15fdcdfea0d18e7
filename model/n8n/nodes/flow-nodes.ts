import type { JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { conditionsCel, oneCondition } from '../conditions.ts'
import { chosenOf, type Exit, type Flow, ofOne, orEmpty, outputOf } from '../flow.ts'
import { NotConvertible, NotFilled } from '../js-ast.ts'
import { celOut, type Out, pathOut } from '../out.ts'
import type { Scope } from '../scope.ts'
import type { Step } from '../step.ts'

/** Routes items that meet a condition to its port; the last port is for items that meet no condition. */
function routed(step: Step, conditions: (scope: Scope) => string[], { fallback = true, all = false } = {}): Exit[] {
  const { input, node } = step
  if (input.one) {
    const cases = conditions(step.scope()).map((when, at) => ({
      port: `case_${at + 1}`,
      when: { $cel: bounded(when) },
    }))
    if (cases.length === 0) throw new NotFilled('it has no conditions')
    step.add('branch', { cases })
    const ports = [...cases.map(({ port }) => port), ...(fallback ? ['default'] : [])]
    return ports.map((port) => {
      const exit = step.exit(step.passed(), { port })
      return { ...exit, chosen: new Map([...exit.chosen, [step.id, port]]) }
    })
  }
  const each = pathOut(['x'])
  const add = (type: string, args: JsonObject): string => step.add(type, args, { isHelper: true })
  const found = conditions(step.scope(each, celOut('index_', 'number'), { add, list: celOut(orEmpty(input), 'list') }))
  if (found.length === 0) throw new NotFilled('it has no conditions')
  const values: Record<string, { $cel: string }> = {}
  const lists = found.map((when, at) =>
    all ? when : [...found.slice(0, at).map((before) => `!(${before})`), `(${when})`].join(' && '),
  )
  const rest = found.map((when) => `!(${when})`).join(' && ')
  const source = orEmpty(input)
  for (const [at, when] of [...lists, ...(fallback ? [rest] : [])].entries())
    values[`port_${at + 1}`] = {
      $cel: bounded(
        when.includes('index_') ? `${source}.transformList(index_, x, ${when}, x)` : `${source}.filter(x, ${when})`,
      ),
    }
  step.add('set', { values })
  return Object.keys(values).map((key) => {
    const list: Out = { ...pathOut(['nodes', step.id, 'output', key]), type: 'list' }
    const flow: Flow = { list, same: new Set([...input.same, node.name]), aligned: new Map() }
    return step.exit(flow, { when: `size(${list.cel}) > 0` })
  })
}

const bounded = (cel: string): string => {
  if (cel.length > 4_000) throw new NotConvertible('a condition is too long')
  return cel
}

export function convertIf(step: Step): Exit[] {
  return routed(step, (scope) => [
    conditionsCel(step, step.p.conditions, scope, { combine: step.p.combineOperation, ignoreCase: ignoresCase(step) }),
  ])
}

const ignoresCase = ({ p }: Step): boolean => isObject(p.options) && p.options.ignoreCase === true

export function convertFilter(step: Step): Exit[] {
  return routed(step, (scope) => [
    conditionsCel(step, step.p.conditions, scope, {
      combine: step.p.combineConditions === 'OR' ? 'or' : step.p.combineOperation,
      ignoreCase: ignoresCase(step),
    }),
  ])
}

export function convertSwitch(step: Step): Exit[] {
  const { p } = step
  const options = isObject(p.options) ? p.options : {}
  if (p.mode === 'expression') {
    const count = Number(p.numberOutputs ?? p.outputsAmount ?? 4) || 4
    return routed(
      step,
      (scope) =>
        Array.from({ length: Math.min(count, 30) }, (_, at) => `${step.out(p.output, scope, 'output').cel} == ${at}`),
      { fallback: false },
    )
  }
  const rules = isObject(p.rules) ? (p.rules.values ?? p.rules.rules) : []
  const list = (Array.isArray(rules) ? rules : []).filter(isObject)
  const isOld = !list.some((rule) => isObject(rule.conditions))
  const made = (scope: Scope): string[] =>
    isOld
      ? list.map((rule) =>
          oneCondition(
            step,
            {
              left: p.value1,
              right: rule.value2,
              type: String(p.dataType ?? 'number'),
              operation: String(rule.operation ?? 'equal'),
            },
            scope,
            false,
          ),
        )
      : list.map((rule) => conditionsCel(step, rule.conditions, scope, { ignoreCase: options.ignoreCase === true }))
  if (!isOld)
    return routed(step, made, {
      fallback: options.fallbackOutput === 'extra' || options.fallbackOutput === undefined,
      all: options.allMatchingOutputs === true,
    })
  const exits = routed(step, made)
  // The older node routes items without a matching rule to a numbered output; it always has four outputs.
  const fallback = Number(p.fallbackOutput ?? -1)
  const ports = Array.from({ length: 4 }, (_, at) => (at < list.length ? exits[at] : undefined))
  if (fallback >= 0 && exits.at(-1)) ports[fallback] = exits.at(-1)
  return ports.map((exit) => exit ?? { ...exits.at(-1)!, when: 'false' })
}

/** Passes items on: for a node that does nothing, or whose work is done elsewhere. */
export function passOn(step: Step): Exit[] {
  const flow = step.passed()
  step.add('set', {
    values: flow.one ? { item: step.guarded(flow.one) } : { items: step.guarded(celOut(orEmpty(flow), 'list')) },
  })
  const out = pathOut(['nodes', step.id, 'output', flow.one ? 'item' : 'items'])
  return [step.exit({ ...flow, ...(flow.one ? ofOne(out) : { list: { ...out, type: 'list' } }) })]
}

const SECONDS: Record<string, number> = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400, weeks: 604_800 }

export function convertWait(step: Step): Exit[] {
  const { p } = step
  const scope = step.scope(step.input.one ?? undefined)
  const resume = String(p.resume ?? 'timeInterval')
  if (resume === 'webhook' || resume === 'form') {
    const limit =
      p.limitWaitTime === true
        ? Number(p.resumeAmount ?? 1) * (SECONDS[String(p.resumeUnit ?? 'hours')] ?? 3_600)
        : undefined
    step.remark(
      'it continues when the address of this node, callbacks.<id>.url, is called: send that address to the caller',
    )
    step.add('wait.event', { ...(limit && limit > 0 && { due_in_s: limit, on_due: 'continue' }) })
    return [
      step.exit(
        resume === 'webhook'
          ? ofOne({
              ...pathOut(['nodes', step.id, 'output']),
              fields: { body: pathOut(['nodes', step.id, 'output', 'data']) },
            })
          : ofOne(pathOut(['nodes', step.id, 'output', 'data'])),
      ),
    ]
  }
  if (resume === 'specificTime') {
    step.add('wait', { until: step.text(p.dateTime, scope, 'dateTime') })
    return [step.exit(step.passed())]
  }
  const unit = SECONDS[String(p.unit ?? (step.node.version >= 1.1 ? 'seconds' : 'hours'))] ?? 1
  const amount = p.amount ?? (step.node.version >= 1.1 ? 5 : 1)
  const seconds =
    typeof amount === 'string' && amount.startsWith('=')
      ? step.guarded(celOut(`double(${step.out(amount, scope, 'amount').cel}) * ${unit}`, 'number'))
      : Math.min(31_536_000, Math.max(0, Number(amount) * unit || 0))
  step.add('wait', { for_s: seconds })
  return [step.exit(step.passed())]
}

export function convertStop(step: Step): Exit[] {
  const { p } = step
  const object = p.errorType === 'errorObject'
  const message = step.text(
    object ? p.errorObject : (p.errorMessage ?? 'Stopped'),
    step.scope(step.input.one),
    'errorMessage',
  )
  step.add('fail', { message: typeof message === 'string' ? message.slice(0, 2_000) || 'Stopped' : message })
  return []
}

/** Converts a merge of two lists; a code node does everything except concatenation. */
export function convertMerge(step: Step): Exit[] {
  const { p, inputs } = step
  const mode = String(p.mode ?? 'append')
  const by = String(
    p.combineBy ??
      p.combinationMode ??
      (mode === 'mergeByPosition'
        ? 'combineByPosition'
        : mode === 'mergeByKey'
          ? 'combineByFields'
          : mode === 'multiplex'
            ? 'combineAll'
            : mode === 'mergeByIndex'
              ? 'combineByPosition'
              : mode === 'combine'
                ? 'combineByFields'
                : ''),
  )
  const lists = inputs.map((exits) => (exits.length === 0 ? '[]' : exits.map(orEmpty).join(' + ')))
  const all = inputs.flat()
  const whole = outputOf(step.id)
  if (mode === 'append' || mode === 'wait' || mode === 'passThrough') {
    const output = String(p.output ?? 'input1')
    const cel = mode === 'passThrough' ? (lists[output === 'input2' ? 1 : 0] ?? '[]') : lists.join(' + ')
    step.add('set', { values: { items: { $cel: bounded(cel) } } })
    return [
      step.exit(
        { list: { ...pathOut(['nodes', step.id, 'output', 'items']), type: 'list' } },
        { chosen: chosenOf(all) },
      ),
    ]
  }
  if (mode === 'chooseBranch') {
    const which = String(p.useDataOfInput ?? p.output ?? '1').includes('2') ? 1 : 0
    step.add('set', { values: { items: { $cel: bounded(p.output === 'empty' ? '[{}]' : (lists[which] ?? '[]')) } } })
    return [
      step.exit(
        { list: { ...pathOut(['nodes', step.id, 'output', 'items']), type: 'list' } },
        { chosen: chosenOf(all) },
      ),
    ]
  }
  const source =
    by === 'combineAll' || by === 'multiplex'
      ? MULTIPLEX
      : by === 'combineByPosition' || by === 'mergeByPosition'
        ? POSITION
        : by === 'combineByFields' || by === 'mergeByFields'
          ? fieldsSource(step)
          : undefined
  if (source === undefined) throw new NotConvertible(`it merges in the mode "${(by || mode).slice(0, 40)}"`)
  step.add('code', { input: { lists: lists.map((cel) => ({ $cel: bounded(cel) })) }, source })
  return [step.exit({ list: { ...whole, type: 'list' } }, { chosen: chosenOf(all) })]
}

const MULTIPLEX =
  'const [a = [], b = []] = input.lists\nreturn a.flatMap((one) => b.map((other) => ({ ...one, ...other })))'
const POSITION = `const [first = [], ...others] = input.lists
const length = Math.min(first.length, ...others.map((list) => list.length))
return first.slice(0, length).map((item, at) => Object.assign({}, item, ...others.map((list) => list[at])))`

function fieldsSource({ p, node }: Step): string {
  const text = String(p.fieldsToMatchString ?? '')
  const held = isObject(p.mergeByFields)
    ? p.mergeByFields.values
    : isObject(p.fieldsToMatch)
      ? p.fieldsToMatch.values
      : undefined
  const pairs =
    Array.isArray(held) && held.length > 0
      ? held.filter(isObject).map((one) => [String(one.field1 ?? ''), String(one.field2 ?? '')])
      : p.propertyName1 !== undefined
        ? [[String(p.propertyName1), String(p.propertyName2)]]
        : text.split(',').map((name) => [name.trim(), name.trim()])
  if (pairs.every((pair) => pair.every((name) => name === ''))) throw new NotFilled('it names no fields to match')
  if (pairs.some((pair) => pair.some((name) => name === '' || name?.startsWith('='))))
    throw new NotConvertible(`the fields that "${node.name.slice(0, 60)}" matches are computed`)
  const join = String(p.joinMode ?? 'keepMatches')
  return `const pairs = ${JSON.stringify(pairs)}
const read = (item, path) => path.split('.').reduce((value, key) => value?.[key], item)
const [a = [], b = []] = input.lists
const fits = (one, other) => pairs.every(([mine, theirs]) => read(one, mine) === read(other, theirs))
const mode = ${JSON.stringify(join)}
const matched = a.flatMap((one) => b.filter((other) => fits(one, other)).map((other) => ({ ...one, ...other })))
const left = a.filter((one) => !b.some((other) => fits(one, other)))
const right = b.filter((other) => !a.some((one) => fits(one, other)))
if (mode === 'keepNonMatches') return [...left, ...right]
if (mode === 'keepEverything') return [...matched, ...left, ...right]
if (mode === 'enrichInput1') return [...matched, ...left]
if (mode === 'enrichInput2') return [...matched, ...right]
return matched`
}
