import { X } from 'lucide-react'
import { useId } from 'react'
import type { Json, JsonObject } from '#model/definition'
import { at, isObject } from '#model/json'
import { useAll, useApi } from '#web/api.ts'
import { useWorkflowInputs } from '#web/features/workflows/use-workflow-inputs.ts'
import { Checkbox } from '#web/ui/field.tsx'
import { ServiceChoices } from '../services/choices.tsx'
import { changedServiceArgs, serviceArgsSchema } from '../services/service-args.ts'
import { FieldsField } from './fields-field.tsx'
import { focusBeside } from './focus.ts'
import { IdField } from './id-field.tsx'
import { SelectInput } from './inputs.tsx'
import { emptyOf, labelOf } from './schema.ts'
import { useFieldScope } from './scope.tsx'
import {
  approvalSchema,
  argumentOf,
  argumentsIn,
  type Choice,
  choiceOf,
  grantOf,
  withArgument,
  writtenGrant,
} from './tool-grant.ts'
import type { ValueProps, WithValueField } from './value-props.ts'

type GrantProps = WithValueField & {
  grant: JsonObject
  pointer: string
  approval: JsonObject | undefined
  onChange(grant: JsonObject): void
}

/** The kinds that have their own buttons. */
const KNOWLEDGE = 'knowledge.search'
const DATASET = 'dataset.read'

/** The tools that an agent may use, with who chooses their arguments and who approves each call. */
export function ToolsField({ schema, value, pointer, onChange, ValueField }: ValueProps & WithValueField) {
  const { kinds, readOnly } = useFieldScope()
  const tools: Json[] = Array.isArray(value) ? value : []
  const add = (grant: Json): void => onChange([...tools, grant])
  const others = [...kinds.table.values()].filter(({ kind, type }) => kind === 'tool' && type !== 'service.call')
  const withId = (type: string, name: string): JsonObject => ({ type, arguments: { fixed: { [name]: '' } } })
  const begin: Record<string, () => Json> = {
    workflow: () => ({ workflow_id: '' }),
    service: () => ({ service: '', action: '' }),
    dataset: () => withId(DATASET, 'dataset_id'),
    knowledge: () => withId(KNOWLEDGE, 'knowledge_id'),
  }
  return (
    <div data-fields className="flex flex-col gap-2">
      {tools.map((tool, index) => (
        <GrantCard
          // biome-ignore lint/suspicious/noArrayIndexKey: the place in the list is what a tool is known by
          key={index}
          grant={grantOf(tool)}
          pointer={at(pointer, index)}
          approval={approvalSchema(schema)}
          ValueField={ValueField}
          onChange={(grant) => onChange(tools.with(index, writtenGrant(grant)))}
          onRemove={() => onChange(tools.toSpliced(index, 1))}
        />
      ))}
      {!readOnly && (
        <SelectInput
          data-add
          aria-label="Add a tool"
          value=""
          onChange={(event) => {
            const chosen = event.currentTarget.value
            if (chosen !== '') add(begin[chosen]?.() ?? chosen)
          }}
        >
          <option value="">Add a tool…</option>
          <option value="workflow">A workflow</option>
          <option value="service">An action of a service</option>
          {kinds.table.has(DATASET) && <option value="dataset">A dataset</option>}
          {kinds.table.has(KNOWLEDGE) && <option value="knowledge">A knowledge base</option>}
          <optgroup label="Nodes">
            {others.map(({ type, title }) => (
              <option key={type} value={type}>
                {title}
              </option>
            ))}
          </optgroup>
        </SelectInput>
      )}
    </div>
  )
}

function GrantCard({ onRemove, ...props }: GrantProps & { onRemove(): void }) {
  const { kinds, readOnly } = useFieldScope()
  const { grant } = props
  const kind = kinds.table.get(String(grant.type))
  const title =
    grant.workflow_id !== undefined
      ? 'Workflow'
      : grant.service !== undefined
        ? 'Service'
        : (kind?.title ?? String(grant.type))
  return (
    <div className="flex flex-col gap-3 rounded-md border border-line p-2.5" data-tool={title}>
      <div className="flex items-center">
        <span className="font-medium">{title}</span>
        {!readOnly && (
          <button
            type="button"
            aria-label={`Remove ${title}`}
            title={`Remove ${title}`}
            onClick={(event) => {
              focusBeside(event.currentTarget)
              onRemove()
            }}
            className="ml-auto rounded p-0.5 text-ink-3 hover:bg-hover hover:text-danger"
          >
            <X aria-hidden className="size-3.5" />
          </button>
        )}
      </div>
      {grant.workflow_id !== undefined ? (
        <WorkflowGrant {...props} />
      ) : grant.service !== undefined ? (
        <ServiceGrant {...props} />
      ) : (
        <Arguments {...props} schema={kind?.args_schema as JsonObject | undefined} />
      )}
      <Approval {...props} />
    </div>
  )
}

function WorkflowGrant(props: GrantProps) {
  const { grant, onChange } = props
  const id = useId()
  const workflowId = String(grant.workflow_id)
  const inputs = useWorkflowInputs(workflowId)
  return (
    <>
      <div className="flex flex-col gap-1">
        <label htmlFor={id} className="font-medium">
          Which workflow
        </label>
        <IdField
          id={id}
          label="Which workflow"
          prefix="wf"
          value={workflowId}
          onChange={(next) => onChange({ ...withoutArguments(grant), workflow_id: next })}
        />
      </div>
      <Arguments {...props} schema={inputs} />
    </>
  )
}

/** Removes the arguments, because another tool has other arguments. */
const withoutArguments = ({ arguments: _arguments, ...rest }: JsonObject): JsonObject => rest

function ServiceGrant(props: GrantProps) {
  const { grant, pointer, onChange, ValueField } = props
  const { kinds } = useFieldScope()
  const service = String(grant.service)
  const { data: services } = useAll('listServices', { limit: 200 })
  const listed = services?.find((one) => one.service === service)
  const isImported = listed !== undefined && listed.source !== 'built_in'
  const only = isImported && typeof grant.action === 'string' && grant.action !== '' ? { action: grant.action } : {}
  const { data: detail } = useApi(
    'getService',
    { service, ...only },
    { enabled: services !== undefined && service !== '' },
  )
  const { arguments: given, approval, ...named } = grant
  const whole = serviceArgsSchema(
    (kinds.table.get('service.call')?.args_schema ?? {}) as JsonObject,
    named,
    services,
    detail,
  )
  const { args, ...properties } = whole.properties as JsonObject
  const required = (whole.required as string[]).filter((name) => name !== 'args')
  const change = (next: JsonObject): void => {
    const { args: _args, ...changed } = changedServiceArgs(named, next, detail)
    const isSame = changed.service === named.service && changed.action === named.action
    onChange({ ...changed, ...(isSame && given && { arguments: given }), ...(approval && { approval }) })
  }
  return (
    <ServiceChoices service={service} args={named} presets={isImported ? null : (detail?.credentials ?? [])}>
      <FieldsField
        ValueField={ValueField}
        bare
        schema={{ ...whole, properties, required }}
        value={named}
        pointer={pointer}
        onChange={(next) => change(next as JsonObject)}
      />
      <Arguments {...props} schema={grant.action === '' ? undefined : (args as JsonObject)} />
    </ServiceChoices>
  )
}

const CHOICES: { choice: Choice; words: string }[] = [
  { choice: 'agent', words: 'The agent decides' },
  { choice: 'fixed', words: 'Always this value' },
  { choice: 'allowed', words: 'One of these values' },
]

/** Shows who chooses each argument. A credential is never offered to the agent. */
function Arguments({ grant, pointer, onChange, ValueField, schema }: GrantProps & { schema: JsonObject | undefined }) {
  const { readOnly } = useFieldScope()
  const fields = argumentsIn(schema)
  if (fields.length === 0) return null
  return (
    <div className="flex flex-col gap-2">
      {fields.map(([name, field]) => {
        const choice = choiceOf(grant, name)
        const label = labelOf(name, field)
        const set = (value: Json | undefined, next: Choice = choice): void =>
          onChange(withArgument(grant, name, next, value))
        const listed: JsonObject = { type: 'array', title: label, items: field }
        return (
          <div key={name} className="flex flex-col gap-1">
            <div className="flex items-center gap-2">
              <span className="min-w-0 flex-1 break-words">{label}</span>
              <SelectInput
                aria-label={`Who chooses ${label}`}
                disabled={readOnly}
                value={choice}
                className="w-44!"
                onChange={(event) => {
                  const next = event.currentTarget.value as Choice
                  set(next === 'allowed' ? [emptyOf(field)] : emptyOf(field), next)
                }}
              >
                {CHOICES.filter((one) => field['x-id'] !== 'cred' || one.choice !== 'allowed').map((one) => (
                  <option key={one.choice} value={one.choice}>
                    {one.choice === 'agent' && field['x-id'] === 'cred' ? 'None' : one.words}
                  </option>
                ))}
              </SelectInput>
            </div>
            {choice !== 'agent' && (
              <ValueField
                schema={choice === 'fixed' ? field : listed}
                value={argumentOf(grant, name)}
                pointer={`${pointer}/arguments/${choice}/${name}`}
                label={label}
                plain={choice === 'allowed'}
                onChange={set}
              />
            )}
          </div>
        )
      })}
    </div>
  )
}

function Approval({ grant, pointer, approval, onChange, ValueField }: GrantProps) {
  const { readOnly } = useFieldScope()
  if (approval === undefined) return null
  const { approval: policy, ...rest } = grant
  return (
    <>
      <Checkbox
        label="Ask for approval of each call"
        disabled={readOnly}
        checked={isObject(policy)}
        onCheckedChange={(on) =>
          onChange(on ? { ...rest, approval: { approvers: [{ kind: 'role', id: 'owner' }], quorum: 'any' } } : rest)
        }
      />
      {isObject(policy) && (
        <FieldsField
          ValueField={ValueField}
          schema={approval}
          value={policy}
          pointer={at(pointer, 'approval')}
          plain
          onChange={(next) => onChange({ ...rest, approval: next as JsonObject })}
        />
      )}
    </>
  )
}
