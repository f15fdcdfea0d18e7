import { type Extension, StateEffect, StateField } from '@codemirror/state'
import { EditorView, showTooltip, type Tooltip } from '@codemirror/view'
import type { FunctionHelp } from '#model/cel-help-table'
import { callAt } from './call-at.ts'

// Shows the signature of a function while its arguments are typed, with the argument at the cursor in bold.

export type Signature = { from: number; before: string; active: string; after: string; does: string }
export type SignatureSource = (text: string, at: number) => Signature | null

/**
 * Splits `text.substring(start, end?)` at its argument. After the last argument none is active, or `…` if more may
 * follow.
 */
export function signatureOf(call: string, argument: number): Omit<Signature, 'from' | 'does'> {
  const start = call.indexOf('(') + 1
  const parts = call.slice(start, -1).split(', ')
  const at = argument >= parts.length && parts.at(-1) === '…' ? parts.length - 1 : argument
  const active = parts[at] ?? ''
  if (active === '') return { before: call, active, after: '' }
  const before =
    call.slice(0, start) +
    parts
      .slice(0, at)
      .map((part) => `${part}, `)
      .join('')
  return { before, active, after: call.slice(before.length + active.length) }
}

type Groups = readonly { functions: readonly FunctionHelp[] }[]

export function celSignature(groups: Groups): SignatureSource {
  const help = new Map(groups.flatMap(({ functions }) => functions.map((one) => [one.name, one])))
  return (text, at) => {
    const call = callAt(text, at)
    const last = call && /\.\w+$/.exec(call.name)?.[0]
    const found = call && (help.get(call.name) ?? (last === undefined ? undefined : help.get(last)))
    return found ? { from: call.from, ...signatureOf(found.call, call.argument), does: found.does } : null
  }
}

const leave = StateEffect.define()

/** Shows the signature while the user types or moves in the text, and hides it when the field loses the focus. */
export function signatureHelp(source: () => SignatureSource | undefined): Extension {
  const field = StateField.define<Tooltip | null>({
    create: () => null,
    update(shown, change) {
      if (change.effects.some((effect) => effect.is(leave))) return null
      if (!change.docChanged && !change.selection) return shown
      const isAsked = ['input', 'delete', 'select'].some((event) => change.isUserEvent(event))
      const { head, empty } = change.state.selection.main
      if ((!isAsked && shown === null) || !empty) return null
      const signature = source()?.(change.state.doc.toString(), head)
      return signature ? { pos: signature.from, above: true, create: () => ({ dom: card(signature) }) } : null
    },
    provide: (shown) => showTooltip.from(shown),
  })
  const away = EditorView.domEventHandlers({
    blur: (_event, view) => {
      // A dispatch is not allowed during the update that removed the focus.
      queueMicrotask(() => view.dom.isConnected && view.dispatch({ effects: leave.of(null) }))
    },
  })
  return [field, away]
}

function card({ before, active, after, does }: Signature): HTMLElement {
  const dom = document.createElement('div')
  dom.className = 'code-hover code-signature'
  dom.setAttribute('role', 'status')
  const call = document.createElement('code')
  const strong = document.createElement('b')
  strong.textContent = active
  call.append(before, strong, after)
  dom.append(call)
  if (does !== '') {
    const text = document.createElement('p')
    text.textContent = does
    dom.append(text)
  }
  return dom
}
