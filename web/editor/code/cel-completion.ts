import type { Completion, CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete'
import type { FunctionHelp } from '#model/cel-help-table'
import { parseReference } from '#model/reference'
import { t } from '#web/words/language.ts'
import { type Branch, branchesOf, type Source } from '../document/upstream.ts'
import { asCel, further } from '../document/value.ts'
import { shortJson } from '../fields/short-json.ts'

// Completions at the cursor in an expression: data by its path, functions by their names.

type Groups = readonly { group: string; functions: readonly FunctionHelp[] }[]
type Place = Pick<Branch, 'schema' | 'sample'>

/** A path of names up to the cursor: `nodes.fetch.output.it`. */
const PATH = /[A-Za-z_$](?:[\w$-]|\.\??|\[(?:\d+|"[^"\]]*")\])*$/

export function completeData(sources: readonly Source[], groups: Groups): CompletionSource {
  const functions = groups.flatMap((group) => group.functions)
  return (context: CompletionContext): CompletionResult | null => {
    const line = context.state.sliceDoc(0, context.pos)
    const path = PATH.exec(line)?.[0] ?? ''
    if (path === '' && !context.explicit) return null
    const dot = path.lastIndexOf('.')
    const base = dot === -1 ? '' : path.slice(0, dot)
    const from = context.pos - (path.length - dot - 1)
    const options =
      base === ''
        ? [...roots(sources), ...functions.filter(({ name }) => !name.startsWith('.')).map(ofFunction)]
        : [...fieldsOf(sources, base), ...functions.filter(({ name }) => name.startsWith('.')).map(ofFunction)]
    return { from, options, validFor: /^[\w$-]*$/ }
  }
}

const roots = (sources: readonly Source[]): Completion[] => {
  const names = new Set(sources.map(({ reference }) => reference.split('.')[0]!))
  return [...names].map((label) => ({
    label,
    type: 'variable',
    detail: label === 'nodes' ? t('earlier steps') : (sources.find(({ reference }) => reference === label)?.hint ?? ''),
    boost: 50,
  }))
}

const ofFunction = ({ name, call, does, example, gives }: FunctionHelp): Completion => ({
  label: name.replace(/^\./, ''),
  type: 'function',
  detail: call,
  info: `${does}. ${example} = ${JSON.stringify(gives)}`,
  apply: `${name.replace(/^\./, '')}(`,
})

function fieldsOf(sources: readonly Source[], base: string): Completion[] {
  if (base === 'nodes')
    return sources.flatMap(({ reference, title }) => {
      const id = /^nodes\.(.+)\.output$/.exec(reference)?.[1]
      return id === undefined ? [] : [{ label: id, detail: title, apply: `${asCel(`nodes.${id}`).slice(6)}.output` }]
    })
  if (/^nodes\.[^.]+$/.test(base)) return [{ label: 'output' }]
  const place = placeOf(sources, base)
  if (!place) return []
  return branchesOf(place)
    .filter(({ key }) => typeof key === 'string' && !further('', key).startsWith('['))
    .map(({ key, schema, sample }) => ({
      label: String(key),
      type: 'property',
      detail: sample !== undefined ? shortJson(sample, 30) : typeof schema?.type === 'string' ? schema.type : '',
      boost: 60,
    }))
}

/** Returns the data at a path, if it is known. */
export function placeOf(sources: readonly Source[], path: string): Place | undefined {
  const parsed = parseReference(path)
  if (!parsed.ok) return undefined
  const { segments } = parsed
  const depth = segments[0] === 'nodes' ? 3 : 1
  const root = segments.slice(0, depth).join('.')
  let place: Place | undefined = sources.find(({ reference }) => reference === root)
  for (const key of segments.slice(depth))
    place = place && branchesOf(place).find((branch) => String(branch.key) === String(key))
  return place
}

/** Returns the whole path around a position, or the name of a function there. */
export function wordAt(text: string, at: number): { from: number; to: number; text: string } | undefined {
  const before = PATH.exec(text.slice(0, at))?.[0] ?? ''
  const after = /^[\w$-]*(?=\s*\(?)/.exec(text.slice(at))?.[0] ?? ''
  const word = before + after
  return word === '' ? undefined : { from: at - before.length, to: at + after.length, text: word }
}
