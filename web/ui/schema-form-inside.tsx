import RjsfForm, { getDefaultRegistry } from '@rjsf/core'
import type { IconButtonProps, RJSFSchema, WidgetProps } from '@rjsf/utils'
import { ArrowDown, ArrowUp, Copy, type LucideIcon, Plus, Trash2 } from 'lucide-react'
import { type ReactNode, useId, useMemo, useState } from 'react'
import type { Json } from '#model/definition'
import { isObject } from '#model/json'
import { Button, IconButton } from './button.tsx'
import { inputClass } from './field.tsx'
import { messageOf } from './messages.ts'
import type { SchemaFormProps } from './schema-form-props.ts'
import { validator } from './schema-validator.ts'

// The form library draws, our own interpreter of JSON Schema judges: the same code as on the server, and no generated code.

const templates = {
  ButtonTemplates: {
    AddButton: (props: IconButtonProps) => (
      <Button size="small" icon={Plus} onClick={props.onClick} disabled={props.disabled}>
        Add
      </Button>
    ),
    CopyButton: (props: IconButtonProps) => <Small {...props} icon={Copy} label="Duplicate" />,
    MoveUpButton: (props: IconButtonProps) => <Small {...props} icon={ArrowUp} label="Move up" />,
    MoveDownButton: (props: IconButtonProps) => <Small {...props} icon={ArrowDown} label="Move down" />,
    RemoveButton: (props: IconButtonProps) => <Small {...props} icon={Trash2} label="Remove" />,
    ClearButton: (props: IconButtonProps) => <Small {...props} icon={Trash2} label="Clear" />,
  },
}

const Small = ({
  icon,
  label,
  onClick,
  disabled,
}: Omit<IconButtonProps, 'icon'> & { icon: LucideIcon; label: string }) => (
  <IconButton icon={icon} label={label} size="small" onClick={onClick} disabled={disabled} />
)

const { SelectWidget: PlainSelect } = getDefaultRegistry().widgets
const widgets = {
  SelectWidget: (props: WidgetProps) =>
    PlainSelect ? <PlainSelect {...props} placeholder={props.placeholder || 'Choose'} /> : null,
}

/** A schema that says nothing about fields is answered with plain JSON. */
const isVague = (schema: unknown): boolean => {
  if (!isObject(schema)) return true
  if (['$ref', 'oneOf', 'anyOf', 'allOf', 'enum', 'const'].some((key) => key in schema)) return false
  if (schema.type === 'object') return !isObject(schema.properties) || Object.keys(schema.properties).length === 0
  if (schema.type === 'array') return schema.items === undefined
  return typeof schema.type !== 'string' && !isObject(schema.properties)
}

export function SchemaFormInside(props: SchemaFormProps) {
  const { schema, onSubmit, submit = 'Send', actions, disabled = false } = props
  const [value, setValue] = useState(props.value)
  const [pending, setPending] = useState(false)
  const [refused, setRefused] = useState<string | null>(null)
  // Several forms may stand on one page.
  const prefix = `form${useId()}`
  const vague = useMemo(() => isVague(schema), [schema])

  const send = async (answer: unknown): Promise<void> => {
    setPending(true)
    setRefused(null)
    try {
      await onSubmit(answer)
    } catch (error) {
      setRefused(messageOf(error))
    } finally {
      setPending(false)
    }
  }
  const foot = (
    <>
      {refused && (
        <p role="alert" className="rounded-md bg-danger-soft px-3 py-2 text-danger">
          {refused}
        </p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" look="primary" pending={pending} disabled={disabled}>
          {submit}
        </Button>
        {actions}
      </div>
    </>
  )
  if (vague)
    return (
      <PlainJson
        schema={schema}
        value={props.value}
        onChange={props.onChange}
        onSend={send}
        onRefuse={setRefused}
        foot={foot}
      />
    )
  return (
    <RjsfForm
      className="schema-form flex max-w-2xl flex-col gap-4"
      idPrefix={prefix}
      schema={schema as RJSFSchema}
      validator={validator}
      templates={templates}
      widgets={widgets}
      formData={value}
      disabled={disabled || pending}
      showErrorList={false}
      noHtml5Validate
      focusOnFirstError
      // The fields say what is wrong; the library would write it to the browser's log.
      onError={() => {}}
      onChange={({ formData }) => {
        setValue(formData)
        props.onChange?.(formData)
      }}
      onSubmit={({ formData }) => void send(formData)}
    >
      {foot}
    </RjsfForm>
  )
}

type PlainProps = {
  schema: unknown
  value: unknown
  onChange?: ((value: unknown) => void) | undefined
  onSend(value: Json): Promise<void>
  onRefuse(reason: string): void
  foot: ReactNode
}

function PlainJson({ schema, value, onChange, onSend, onRefuse, foot }: PlainProps) {
  const [text, setText] = useState(() =>
    JSON.stringify(value ?? (isObject(schema) && schema.type === 'object' ? {} : ''), null, 2),
  )
  const read = (): Json | undefined => {
    try {
      return JSON.parse(text) as Json
    } catch {
      return undefined
    }
  }
  return (
    <form
      className="flex max-w-2xl flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        const parsed = read()
        if (parsed === undefined) onRefuse('This is not valid JSON yet.')
        else void onSend(parsed)
      }}
    >
      <label className="flex flex-col gap-1 font-medium">
        JSON
        <textarea
          rows={6}
          spellCheck={false}
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            try {
              onChange?.(JSON.parse(event.target.value))
            } catch {
              // Told only once it reads as JSON again.
            }
          }}
          className={`${inputClass} py-2 font-mono text-xs font-normal`}
        />
      </label>
      {foot}
    </form>
  )
}
