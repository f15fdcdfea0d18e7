import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { history, historyKeymap, standardKeymap } from '@codemirror/commands'
import { bracketMatching, syntaxHighlighting } from '@codemirror/language'
import { forceLinting, linter } from '@codemirror/lint'
import { Annotation, Compartment, EditorState, type Extension } from '@codemirror/state'
import { EditorView, hoverTooltip, keymap } from '@codemirror/view'
import type { RefObject } from 'react'
import type { CodeFieldProps } from './code-props.ts'
import { colours, editorTheme } from './editor-theme.ts'
import { languageOf } from './languages.ts'
import { signatureHelp } from './signature.ts'
import { syntaxFaults } from './syntax-faults.ts'

export type CodeView = {
  show(text: string): void
  insert(text: string): void
  disable(disabled: boolean): void
  checkAgain(): void
  destroy(): void
}

const LINT_AFTER_MS = 250

/** Marks text that was set from outside, which is not reported back as a change. */
const given = Annotation.define<boolean>()

/**
 * The code editor, not the browser, inserts text typed over a selection. The browser would keep the colours of the
 * replaced text as inline styles, which the content security policy refuses.
 */
const typedByUs = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { data, inputType, isComposing } = event as InputEvent
    if (inputType !== 'insertText' || data === null || isComposing || view.state.readOnly) return false
    const { from, to } = rangeOf(event as InputEvent, view)
    const typed = () =>
      view.state.update({
        changes: { from, to, insert: data },
        selection: { anchor: from + data.length },
        userEvent: 'input.type',
        scrollIntoView: true,
      })
    const taken = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, typed))
    if (!taken) view.dispatch(typed())
    event.preventDefault()
    return true
  },
})

/**
 * Returns the range that the browser is about to replace. The code editor is notified of a new selection later, so its
 * own selection may be outdated.
 */
function rangeOf(event: InputEvent, view: EditorView): { from: number; to: number } {
  const [range] = event.getTargetRanges()
  const { contentDOM } = view
  if (!range || !contentDOM.contains(range.startContainer) || !contentDOM.contains(range.endContainer))
    return view.state.selection.main
  const from = view.posAtDOM(range.startContainer, range.startOffset)
  const to = view.posAtDOM(range.endContainer, range.endOffset)
  return { from: Math.min(from, to), to: Math.max(from, to) }
}

export function mountCode(host: HTMLElement, latest: RefObject<CodeFieldProps>): CodeView {
  const { label, language, value, disabled = false } = latest.current
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open', delegatesFocus: true })
  const editable = new Compartment()
  const fixed = (off: boolean): Extension => [EditorView.editable.of(!off), EditorState.readOnly.of(off)]
  const state = EditorState.create({
    doc: value,
    extensions: [
      history(),
      languageOf(language),
      syntaxHighlighting(colours),
      bracketMatching(),
      closeBrackets(),
      autocompletion({
        override: [(context) => latest.current.complete?.(context) ?? null],
        icons: false,
      }),
      hoverTooltip((view, at, side) => latest.current.hover?.(view, at, side) ?? null),
      signatureHelp(() => latest.current.signature),
      linter(
        async ({ state }) => {
          const faults = [
            ...(latest.current.faults?.(state.doc.toString()) ?? []),
            ...(await syntaxFaults(state, language)),
          ]
          return faults.map(({ level, ...fault }) => ({ ...fault, severity: level }))
        },
        { delay: LINT_AFTER_MS },
      ),
      // Ctrl Enter runs the workflow and Tab moves to the next field, so neither is bound here.
      keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...standardKeymap]),
      EditorView.lineWrapping,
      typedByUs,
      EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
      EditorView.updateListener.of(({ docChanged, state: next, transactions }) => {
        if (docChanged && !transactions.some((one) => one.annotation(given)))
          latest.current.onChange(next.doc.toString())
      }),
      editable.of(fixed(disabled)),
      editorTheme,
    ],
  })
  const view = new EditorView({ state, parent: root, root })
  return {
    show(text) {
      const now = view.state.doc.toString()
      if (now === text) return
      view.dispatch({ changes: { from: 0, to: now.length, insert: text }, annotations: given.of(true) })
    },
    insert(text) {
      view.dispatch(view.state.replaceSelection(text))
      view.focus()
    },
    disable: (off) => view.dispatch({ effects: editable.reconfigure(fixed(off)) }),
    checkAgain: () => forceLinting(view),
    destroy: () => view.destroy(),
  }
}
