import { HighlightStyle } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

// The console's own colours, which follow its theme: custom properties are inherited into the shadow root.

const MONO = 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace'

export const editorTheme = EditorView.theme({
  '&': { color: 'var(--ink)', fontSize: '12px', backgroundColor: 'transparent' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: MONO, lineHeight: '20px', maxHeight: '24rem' },
  '.cm-content': {
    padding: '6px 0',
    minHeight: 'calc(var(--code-rows, 2) * 20px + 12px)',
    caretColor: 'var(--ink)',
  },
  '.cm-line': { padding: '0 10px' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-soft)', outline: 'none' },
  '.cm-tooltip': {
    color: 'var(--ink)',
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    boxShadow: '0 8px 24px -8px var(--shadow)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: MONO, fontSize: '12px', maxHeight: '16rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 10px', lineHeight: '18px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { color: 'var(--ink)', backgroundColor: 'var(--accent-soft)' },
  '.cm-completionDetail': { color: 'var(--ink-3)', fontStyle: 'normal', marginLeft: '1em' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '600', color: 'var(--accent-strong)' },
  '.cm-completionInfo': { padding: '6px 10px', maxWidth: '20rem', fontSize: '12px', lineHeight: '18px' },
  '.cm-diagnostic': { padding: '4px 10px', fontSize: '12px', lineHeight: '18px', borderLeft: 'none' },
  '.cm-diagnostic-error': { color: 'var(--danger)' },
  '.cm-diagnostic-warning': { color: 'var(--waiting)' },
  '.cm-lintRange-error': { backgroundImage: 'none', borderBottom: '2px solid var(--danger)' },
  '.cm-lintRange-warning': { backgroundImage: 'none', borderBottom: '2px solid var(--waiting)' },
  '.code-hover': { padding: '6px 10px', maxWidth: '22rem', fontSize: '12px', lineHeight: '18px' },
  '.code-hover code': { fontFamily: MONO, display: 'block', overflowWrap: 'anywhere' },
  '.code-hover p': { margin: '0', color: 'var(--ink-2)' },
  '.code-signature b': { color: 'var(--accent-strong)' },
})

export const colours = HighlightStyle.define([
  { tag: tags.string, color: 'var(--success)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--running)' },
  { tag: [tags.keyword, tags.operatorKeyword], color: 'var(--waiting)' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: 'var(--accent-strong)' },
  { tag: tags.special(tags.variableName), color: 'var(--accent-strong)', fontWeight: '600' },
  { tag: tags.propertyName, color: 'var(--ink)' },
  { tag: tags.comment, color: 'var(--ink-3)', fontStyle: 'italic' },
  { tag: tags.typeName, color: 'var(--accent-strong)' },
])
