import { useMemo } from 'react'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { Switch } from '#web/ui/field.tsx'
import { CodeField } from '../code/code-field.tsx'
import type { Language } from '../code/code-props.ts'
import { completeCode, completeJsonata, inputPlace, jsonataSignature } from '../code/program-completion.ts'
import { ChoiceField } from '../services/choices.tsx'
import { AnyField } from './any-field.tsx'
import { CasesField } from './cases-field.tsx'
import { choiceTitle } from './choice-titles.ts'
import { FieldsField } from './fields-field.tsx'
import { IdField } from './id-field.tsx'
import { NumberInput, SelectInput, TextArea, TextInput } from './inputs.tsx'
import { ListField } from './list-field.tsx'
import { PairsField } from './pairs-field.tsx'
import { fieldKindOf } from './schema.ts'
import { SchemaEditor } from './schema-editor.tsx'
import { useFieldScope } from './scope.tsx'
import { BodyField, ConditionField, QuorumField } from './special-fields.tsx'
import { ToolsField } from './tools-field.tsx'
import type { ValueProps, WithValueField } from './value-props.ts'

const languages: Record<string, Language> = {
  typescript: 'typescript',
  code: 'typescript',
  jsonata: 'jsonata',
  cel: 'cel',
  sql: 'plain',
  html: 'plain',
}

/** Returns the title of a choice, for choices whose name in the console differs from their value in a definition. */
const titleOf = (schema: JsonObject, choice: Json): string => {
  const titles = schema['x-titles']
  const title = isObject(titles) && typeof choice === 'string' ? titles[choice] : undefined
  if (typeof title === 'string') return title
  return choiceTitle(Array.isArray(schema.enum) ? schema.enum : [], choice) ?? String(choice)
}

/** The control for a literal value. */
export function LiteralField(props: ValueProps & WithValueField & { id: string }) {
  const { schema, value, id, label, required, onChange } = props
  const { readOnly } = useFieldScope()
  switch (fieldKindOf(schema)) {
    case 'choice':
      return (
        <SelectInput
          id={id}
          disabled={readOnly}
          value={JSON.stringify(value ?? schema.default ?? null)}
          onChange={(event) => onChange(JSON.parse(event.currentTarget.value) as Json)}
        >
          {(schema.enum as Json[]).map((choice) => (
            <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
              {titleOf(schema, choice)}
            </option>
          ))}
        </SelectInput>
      )
    case 'boolean':
      return (
        <Switch
          id={id}
          label={label}
          hideLabel
          disabled={readOnly}
          checked={(value ?? schema.default) === true}
          onCheckedChange={(on) => onChange(on)}
        />
      )
    case 'number':
      return (
        <NumberInput
          id={id}
          disabled={readOnly}
          placeholder={schema.default === undefined ? undefined : String(schema.default)}
          value={typeof value === 'number' ? value : undefined}
          onNumber={onChange}
        />
      )
    case 'text':
      return <TextField {...props} />
    case 'list':
      return <ListField {...props} />
    case 'fields':
      return <FieldsField {...props} value={isObject(value) ? value : {}} />
    case 'pairs':
      return <PairsField {...props} value={isObject(value) ? value : {}} />
    case 'schema':
      return <SchemaEditor label={label} value={value} readOnly={readOnly} onChange={onChange} />
    case 'body':
      return <BodyField value={value} />
    case 'cases':
      return <CasesField {...props} />
    case 'condition':
      return <ConditionField {...props} />
    case 'quorum':
      return <QuorumField {...props} />
    case 'tools':
      return <ToolsField {...props} />
    case 'any':
      return <AnyField {...props} required={required ?? false} />
  }
}

/** A field for a program. Code and JSONata complete fields of their input; the other languages have no input data. */
function ProgramField(props: {
  label: string
  language: Language
  disabled: boolean
  value: string
  onChange(text: string): void
}) {
  const { sources, own } = useFieldScope()
  const { language } = props
  const input = own?.input
  const complete = useMemo(() => {
    if (language === 'typescript') return completeCode(inputPlace(input, sources))
    return language === 'jsonata' ? completeJsonata(inputPlace(input, sources)) : undefined
  }, [language, input, sources])
  return (
    <CodeField
      {...props}
      rows={6}
      {...(complete && { complete })}
      {...(language === 'jsonata' && { signature: jsonataSignature })}
    />
  )
}

function TextField({ schema, value, id, label, onChange, required }: ValueProps & { id: string }) {
  const { readOnly } = useFieldScope()
  const text = typeof value === 'string' ? value : ''
  const change = (next: string): void => onChange(next === '' && !required ? undefined : next)
  if (typeof schema['x-id'] === 'string')
    return <IdField id={id} label={label} prefix={schema['x-id']} value={text} onChange={onChange} />
  if (typeof schema['x-options'] === 'string')
    return <ChoiceField id={id} options={schema['x-options']} value={text} onChange={change} />
  const editor = String(schema['x-editor'] ?? '')
  const language = languages[editor]
  if (language)
    return <ProgramField label={label} language={language} disabled={readOnly} value={text} onChange={change} />
  if (editor !== '') return <TextArea id={id} disabled={readOnly} value={text} rows={3} onText={change} />
  return (
    <TextInput
      id={id}
      disabled={readOnly}
      value={text}
      placeholder={schema.format === 'date-time' ? '2026-12-24T18:00:00Z' : undefined}
      onChange={(event) => change(event.currentTarget.value)}
    />
  )
}
