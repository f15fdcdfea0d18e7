import type { HoverTooltipSource } from '@codemirror/view'
import type { FunctionHelp } from '#model/cel-help-table'
import { t } from '#web/words/language.ts'
import type { Source } from '../document/upstream.ts'
import { shortJson } from '../fields/short-json.ts'
import { placeOf, wordAt } from './cel-completion.ts'

type Groups = readonly { group: string; functions: readonly FunctionHelp[] }[]

/** Shows the value of data in the last execution, and the description of a function. */
export function hoverData(sources: readonly Source[], groups: Groups): HoverTooltipSource {
  const functions = groups.flatMap((group) => group.functions)
  return (view, at) => {
    const word = wordAt(view.state.doc.toString(), at)
    if (!word) return null
    const last = word.text.split('.').at(-1)!
    const place = placeOf(sources, word.text)
    const help = functions.find(({ name }) => name === last || name === `.${last}`)
    const lines: [head: string, body: string] | undefined = place
      ? [word.text, place.sample === undefined ? typeOf(place.schema) : `= ${shortJson(place.sample, 200)}`]
      : help && [help.call, `${help.does}. ${help.example} = ${JSON.stringify(help.gives)}`]
    if (!lines) return null
    return { pos: word.from, end: word.to, create: () => ({ dom: card(...lines) }) }
  }
}

const typeOf = (schema: { type?: unknown } | undefined): string =>
  typeof schema?.type === 'string' ? schema.type : t('no data yet')

function card(head: string, body: string): HTMLElement {
  const dom = document.createElement('div')
  dom.className = 'code-hover'
  const title = document.createElement('code')
  title.textContent = head
  const text = document.createElement('p')
  text.textContent = body
  dom.append(title, text)
  return dom
}
