import RjsfForm, { getDefaultRegistry } from '@rjsf/core'
import type { IconButtonProps, RJSFSchema, WidgetProps } from '@rjsf/utils'
import { ArrowDown, ArrowUp, Copy, type LucideIcon, Plus, Trash2 } from 'lucide-react'
import { useId, useMemo, useState } from 'react'
import { isObject } from '#model/json'
import { Button, IconButton } from './button.tsx'
import { cx } from './cx.ts'
import { messageOf } from './messages.ts'
import { PlainJson } from './plain-json.tsx'
import type { SchemaFormProps } from './schema-form-props.ts'
import { validator } from './schema-validator.ts'

// The form library renders, our own interpreter of JSON Schema validates: the same code as on the server, without
// generated code.

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

/** Checks for a schema without fields, which is shown as plain JSON. */
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
  // A page may contain several forms.
  const prefix = `form${useId()}`
  const vague = useMemo(() => isVague(schema), [schema])
  const [asJson, setAsJson] = useState(false)

  const send = async (answer: unknown): Promise<void> => {
    if (pending) return
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
  const change = (next: unknown): void => {
    setValue(next)
    props.onChange?.(next)
  }
  if (vague)
    return <PlainJson schema={schema} value={value} onChange={change} onSend={send} onRefuse={setRefused} foot={foot} />
  const ways = props.json && <Ways asJson={asJson} onChoose={setAsJson} />
  if (asJson)
    return (
      <>
        {ways}
        <PlainJson schema={schema} value={value} onChange={change} onSend={send} onRefuse={setRefused} foot={foot} />
      </>
    )
  const form = (
    <RjsfForm
      className="schema-form flex max-w-3xl flex-col gap-4"
      idPrefix={prefix}
      schema={schema as RJSFSchema}
      validator={validator}
      templates={templates}
      widgets={widgets}
      formData={value}
      disabled={disabled}
      showErrorList={false}
      noHtml5Validate
      focusOnFirstError
      // The fields show the errors; without this, the library would write them to the browser's console.
      onError={() => {}}
      onChange={({ formData }) => change(formData)}
      onSubmit={({ formData }) => void send(formData)}
    >
      {foot}
    </RjsfForm>
  )
  return ways ? (
    <>
      {ways}
      {form}
    </>
  ) : (
    form
  )
}

/** Switches between fields and the whole value as JSON. */
function Ways({ asJson, onChoose }: { asJson: boolean; onChoose(asJson: boolean): void }) {
  return (
    <fieldset className="mb-3 inline-flex w-fit rounded-md border border-line">
      <legend className="sr-only">Fill in as</legend>
      {[false, true].map((json) => (
        <button
          key={String(json)}
          type="button"
          aria-pressed={asJson === json}
          onClick={() => onChoose(json)}
          className={cx(
            'h-7 px-3 text-xs first-of-type:rounded-l-md last-of-type:rounded-r-md',
            asJson === json ? 'bg-accent-soft font-medium text-accent-strong' : 'text-ink-2 hover:bg-hover',
          )}
        >
          {json ? 'JSON' : 'Form'}
        </button>
      ))}
    </fieldset>
  )
}
