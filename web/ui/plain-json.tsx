import { type ReactNode, useState } from 'react'
import type { Json, JsonObject } from '#model/definition'
import type { Issue } from '#model/issue'
import { isObject } from '#model/json'
import { validateJson } from '#model/json-schema'
import { t } from '#web/words/language.ts'
import { translateMessage } from '#web/words/messages.ts'
import { inputClass } from './field.tsx'

type Props = {
  schema: unknown
  value: unknown
  onChange(value: unknown): void
  onSend(value: Json): Promise<void>
  onRefuse(reason: string): void
  foot: ReactNode
}

/** A whole value as JSON; errors against the schema are shown with their path. */
export function PlainJson({ schema, value, onChange, onSend, onRefuse, foot }: Props) {
  const [text, setText] = useState(() =>
    JSON.stringify(value ?? (isObject(schema) && schema.type !== 'string' ? {} : ''), null, 2),
  )
  const [issues, setIssues] = useState<Issue[]>([])
  const send = (): void => {
    let parsed: Json
    try {
      parsed = JSON.parse(text) as Json
    } catch (error) {
      onRefuse(`This is not valid JSON yet: ${error instanceof Error ? error.message : t('it cannot be read')}`)
      return
    }
    const found = isObject(schema) ? validateJson(schema as JsonObject, parsed) : []
    setIssues(found)
    if (found.length === 0) void onSend(parsed)
  }
  return (
    <form
      className="flex max-w-3xl flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <label className="flex flex-col gap-1 font-medium">
        JSON
        <textarea
          rows={Math.min(24, Math.max(6, text.split('\n').length + 1))}
          spellCheck={false}
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            try {
              onChange(JSON.parse(event.target.value))
            } catch {
              // `onChange` is called only once the text is valid JSON again.
            }
          }}
          className={`${inputClass} py-2 font-mono text-xs font-normal`}
        />
      </label>
      {issues.length > 0 && (
        <ul role="alert" className="rounded-md bg-danger-soft px-3 py-2 text-danger">
          {issues.slice(0, 8).map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              {path !== '' && <code className="font-mono text-xs">{path.slice(1).replaceAll('/', '.')}</code>}{' '}
              {translateMessage(message)}
            </li>
          ))}
        </ul>
      )}
      {foot}
    </form>
  )
}
