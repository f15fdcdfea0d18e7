import { useEffect, useState } from 'preact/hooks'
import type { Schema } from './api.ts'
import { t } from './words.ts'

type Props = {
  title: string
  schema: Schema
  values: Record<string, unknown>
  errors: Record<string, string>
  busy: boolean
  /** Uploads a file and returns it as a value; undefined if it was refused. */
  onFile(file: File): Promise<unknown>
  onSubmit(values: Record<string, unknown>): void
  onCancel?(): void
}

const typeOf = (schema: Schema): string =>
  ([schema.type].flat().find((type) => type !== 'null') as string | undefined) ?? (schema.enum ? 'enum' : 'string')

/** Checks for a file input, as workflows declare it: an object with `$file`. */
const isFile = (schema: Schema): boolean =>
  schema.properties?.$file !== undefined || (schema.required ?? []).includes('$file')

const nameOf = (value: unknown): string => (value as { $file?: { name?: string } } | undefined)?.$file?.name ?? ''

const zone = (): string => {
  const minutes = -new Date().getTimezoneOffset()
  const two = (value: number): string => String(Math.floor(Math.abs(value))).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`
}

/**
 * Parses the text of a field. An empty text is absent; text that cannot be parsed stays text, and the service reports
 * the error.
 */
function read(schema: Schema, text: string): unknown {
  if (text === '') return undefined
  if (schema.enum) return schema.enum.find((value) => String(value) === text) ?? text
  const type = typeOf(schema)
  if (type === 'number' || type === 'integer') return Number.isNaN(Number(text)) ? text : Number(text)
  // The browser's time fields have no zone: the value is in the visitor's own zone.
  if (schema.format === 'time' && /^\d\d:\d\d$/.test(text)) return `${text}:00${zone()}`
  if (schema.format === 'date-time') return Number.isNaN(Date.parse(text)) ? text : new Date(text).toISOString()
  if (type === 'array' && typeOf(schema.items ?? {}) === 'string')
    return text.split('\n').filter((line) => line.trim() !== '')
  if (type === 'array' || type === 'object') {
    try {
      return JSON.parse(text)
    } catch {
      return text
    }
  }
  return text
}

const show = (value: unknown, format?: string): string => {
  if (value === undefined || value === null) return ''
  if (format === 'time') return String(value).slice(0, 5)
  if (format === 'date-time' && !Number.isNaN(Date.parse(String(value)))) {
    const at = new Date(String(value))
    return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
  }
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join('\n')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const inputType: Record<string, 'date' | 'datetime-local' | 'time' | 'email' | 'url'> = {
  date: 'date',
  'date-time': 'datetime-local',
  time: 'time',
  email: 'email',
  uri: 'url',
}

/** A form for a JSON Schema: supports the part needed for the inputs of a workflow. */
export function SchemaForm({ title, schema, values, errors, busy, onFile, onSubmit, onCancel }: Props) {
  const fields = Object.entries(schema.properties ?? {})
  const required = new Set(schema.required ?? [])
  // A checkbox that is left empty means no.
  const untouched = (name: string, field: Schema) =>
    typeOf(field) === 'boolean' && required.has(name) ? false : undefined
  const [given, setGiven] = useState<Record<string, unknown>>(() =>
    Object.fromEntries(fields.map(([name, field]) => [name, values[name] ?? field.default ?? untouched(name, field)])),
  )
  // Values that the visitor gives in the chat in the meantime are added to the form.
  const known = JSON.stringify(values)
  useEffect(() => setGiven((before) => ({ ...before, ...JSON.parse(known) })), [known])

  const submit = (event: Event): void => {
    event.preventDefault()
    onSubmit(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)))
  }
  const change = (name: string, value: unknown): void => setGiven((before) => ({ ...before, [name]: value }))

  return (
    <form class="form" onSubmit={submit} aria-label={title}>
      <p class="form-title">{title}</p>
      {fields.map(([name, field]) => {
        const label = field.title ?? name.replaceAll('_', ' ')
        const error = errors[name]
        const common = {
          id: `f-${name}`,
          disabled: busy,
          required: required.has(name),
          'aria-invalid': error ? true : undefined,
          'aria-describedby': error || field.description ? `d-${name}` : undefined,
        }
        return (
          <div class="field" key={name}>
            {typeOf(field) === 'boolean' ? (
              <label class="check">
                <input
                  type="checkbox"
                  {...common}
                  required={false}
                  checked={given[name] === true}
                  onChange={(event) => change(name, event.currentTarget.checked)}
                />{' '}
                {label}
              </label>
            ) : (
              <>
                <label for={`f-${name}`}>
                  {label}
                  {required.has(name) ? <span aria-hidden="true"> *</span> : null}
                </label>
                {isFile(field) || isFile(field.items ?? {}) ? (
                  <>
                    <input
                      {...common}
                      type="file"
                      multiple={!isFile(field)}
                      required={required.has(name) && given[name] === undefined}
                      onChange={async (event) => {
                        const chosen = [...(event.currentTarget.files ?? [])]
                        const kept = await Promise.all(chosen.map(onFile))
                        const files = kept.filter((one) => one !== undefined)
                        change(name, isFile(field) ? files[0] : files.length > 0 ? files : undefined)
                      }}
                    />
                    {given[name] === undefined ? null : (
                      <p class="hint" role="status">
                        {[given[name]].flat().map(nameOf).join(', ')}
                      </p>
                    )}
                  </>
                ) : field.enum ? (
                  <select
                    {...common}
                    value={show(given[name])}
                    onChange={(event) => change(name, read(field, event.currentTarget.value))}
                  >
                    <option value="">{t('Choose…')}</option>
                    {field.enum.map((value) => (
                      <option key={String(value)} value={String(value)}>
                        {String(value)}
                      </option>
                    ))}
                  </select>
                ) : typeOf(field) === 'array' || typeOf(field) === 'object' || (field.maxLength ?? 0) > 200 ? (
                  <textarea
                    {...common}
                    rows={3}
                    value={show(given[name])}
                    onChange={(event) => change(name, read(field, event.currentTarget.value))}
                  />
                ) : (
                  <input
                    {...common}
                    // Preact has separate types for each kind of input; the schema decides the kind at run time.
                    type={
                      (typeOf(field) === 'number' || typeOf(field) === 'integer'
                        ? 'number'
                        : (inputType[field.format ?? ''] ?? 'text')) as 'text'
                    }
                    step={typeOf(field) === 'integer' ? 1 : 'any'}
                    min={field.minimum}
                    max={field.maximum}
                    maxLength={field.maxLength}
                    value={show(given[name], field.format)}
                    onChange={(event) => change(name, read(field, event.currentTarget.value))}
                  />
                )}
              </>
            )}
            {error || field.description ? (
              <p id={`d-${name}`} class={error ? 'hint bad' : 'hint'}>
                {error ?? field.description}
              </p>
            ) : null}
          </div>
        )
      })}
      <div class="actions">
        <button type="submit" class="primary" disabled={busy}>
          {t('Send')}
        </button>
        {onCancel ? (
          <button type="button" disabled={busy} onClick={onCancel}>
            {t('Cancel')}
          </button>
        ) : null}
      </div>
    </form>
  )
}

/** The schema of a question is often not an object: one field is then the whole answer. */
export function AnswerForm({
  question,
  schema,
  ...rest
}: {
  question: string
  schema: Schema
  errors: Record<string, string>
  busy: boolean
  onFile(file: File): Promise<unknown>
  onAnswer(response: unknown): void
}) {
  const isObject = typeOf(schema) === 'object' && schema.properties !== undefined && !isFile(schema)
  const wrapped: Schema = isObject
    ? schema
    : {
        type: 'object',
        properties: { response: { ...schema, title: schema.title ?? t('Your answer') } },
        required: ['response'],
      }
  return (
    <SchemaForm
      title={question}
      schema={wrapped}
      values={{}}
      errors={rest.errors}
      busy={rest.busy}
      onFile={rest.onFile}
      onSubmit={(values) => rest.onAnswer(isObject ? values : values.response)}
    />
  )
}
