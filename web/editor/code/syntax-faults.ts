import { ensureSyntaxTree } from '@codemirror/language'
import type { EditorState } from '@codemirror/state'
import { t } from '#web/words/language.ts'
import { translateMessage } from '#web/words/messages.ts'
import type { Fault, Language } from './code-props.ts'

// Syntax errors found by a grammar while a user types. CEL is checked together with the workflow.

const MAX_PARSE_MS = 50
const MAX_LENGTH = 20_000

export async function syntaxFaults(state: EditorState, language: Language): Promise<Fault[]> {
  const text = state.doc.toString()
  if (text.trim() === '' || text.length > MAX_LENGTH) return []
  if (language === 'typescript' || language === 'json') return treeFaults(state, text)
  return language === 'jsonata' ? jsonataFaults(text) : []
}

/** Returns the first place that the grammar cannot parse: later errors are often only consequences of it. */
function treeFaults(state: EditorState, text: string): Fault[] {
  let first: { from: number; to: number } | undefined
  ensureSyntaxTree(state, text.length, MAX_PARSE_MS)?.iterate({
    enter({ type, from, to }) {
      if (type.isError) first ??= { from, to }
    },
  })
  if (!first) return []
  const found = text.slice(first.from, first.to).trim()
  const message =
    found === '' ? t('Something is missing here.') : t('"{0}" is not expected here.', [found.slice(0, 20)])
  return [{ ...placed(first.from, first.to, text), message, level: 'error' }]
}

async function jsonataFaults(text: string): Promise<Fault[]> {
  const { default: jsonata } = await import('jsonata')
  try {
    jsonata(text)
    return []
  } catch (error) {
    const { position = text.length, message } = error as { position?: number; message: string }
    return [{ ...placed(position - 1, position, text), message: translateMessage(message), level: 'error' }]
  }
}

/** Returns a visible range: at least one character, inside the text. */
function placed(from: number, to: number, text: string): { from: number; to: number } {
  const start = Math.max(0, Math.min(from, text.length - 1))
  return { from: start, to: Math.min(text.length, Math.max(to, start + 1)) }
}
