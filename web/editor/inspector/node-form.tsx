import { Trash2 } from 'lucide-react'
import { useMemo } from 'react'
import type { JsonObject, Node } from '#model/definition'
import { IconButton } from '#web/ui/button.tsx'
import { Tabs } from '#web/ui/tabs.tsx'
import { colourOf, iconOf } from '../canvas/icons.ts'
import { changeNode, removeItems, renameCase } from '../document/commands.ts'
import { problemsOfNode } from '../document/problems.ts'
import { FieldsField } from '../fields/fields-field.tsx'
import { TextInput } from '../fields/inputs.tsx'
import { FieldScopeProvider } from '../fields/scope.tsx'
import { ValueField } from '../fields/value-field.tsx'
import { TryButtons } from '../run/effects.tsx'
import { ServiceForm } from '../services/service-form.tsx'
import { SERVICE_CALL } from '../services/service-kinds.ts'
import { useEditor, useEditorStore } from '../store.ts'
import { useProblems } from '../use-problems.ts'
import { ConnectionsList } from './connections-list.tsx'
import { NodeDataTab } from './node-data.tsx'
import { RunningForm } from './running-form.tsx'
import { SecretHeaders } from './secret-headers.tsx'
import { SUBWORKFLOW, SubworkflowForm } from './subworkflow-form.tsx'
import { useFormScope } from './use-field-scope.ts'

export function NodeForm({ node }: { node: Node }) {
  const store = useEditorStore()
  const path = useEditor((state) => state.path)
  const hasData = useEditor((state) => state.path.length === 0 && (state.execution !== null || !state.readOnly))
  const kind = store.kinds.table.get(node.type)
  const scope = useFormScope('node', node.id, { kind: 'node', id: node.id })
  const change = (edit: (before: Node) => Node, about?: string): void =>
    store.change(
      (doc) => changeNode(doc, path, node.id, store.kinds.table, edit),
      about && `${path.join('/')}/${node.id}${about}`,
    )
  const whole = useMemo(
    () => ({
      ...scope,
      openBody: () => store.open([...store.get().path, node.id]),
      renameCase: (index: number, port: string) =>
        store.change((doc) => renameCase(doc, store.get().path, node.id, index, port)),
    }),
    [scope, store, node.id],
  )
  const Icon = iconOf(kind?.icon)
  const setUp = (
    <div className="flex flex-col gap-5">
      {kind && <p className="text-ink-2">{kind.description}</p>}
      <LooseProblems id={node.id} schema={kind?.args_schema} />
      {!scope.readOnly && <SecretHeaders node={node} onChange={(args) => change((before) => ({ ...before, args }))} />}
      {kind?.type === SERVICE_CALL ? (
        <ServiceForm
          node={node}
          kind={kind}
          onChange={(args) => change((before) => ({ ...before, args }), aboutChange(node.args ?? {}, args))}
        />
      ) : kind?.type === SUBWORKFLOW ? (
        <SubworkflowForm
          node={node}
          kind={kind}
          onChange={(args) => change((before) => ({ ...before, args }), aboutChange(node.args ?? {}, args))}
        />
      ) : kind ? (
        <FieldsField
          ValueField={ValueField}
          bare
          schema={kind.args_schema}
          value={node.args ?? {}}
          pointer="/args"
          onChange={(args) =>
            change(
              (before) => ({ ...before, args: args as JsonObject }),
              aboutChange(node.args ?? {}, args as JsonObject),
            )
          }
        />
      ) : (
        <p className="text-danger">This installation has no node type “{node.type}”.</p>
      )}
      <ConnectionsList node={node} />
    </div>
  )
  return (
    <FieldScopeProvider value={whole}>
      <header className="flex items-center gap-2.5 px-4 pt-4 pb-3 lg:pr-10">
        <span
          className="grid size-8 shrink-0 place-items-center rounded-md text-[#fff]"
          style={{ backgroundColor: colourOf(kind?.colour) }}
        >
          <Icon aria-hidden className="size-4.5" />
        </span>
        <TextInput
          aria-label="Node name"
          disabled={scope.readOnly}
          value={node.name ?? ''}
          placeholder={node.id}
          maxLength={200}
          onChange={(event) => {
            const name = event.currentTarget.value
            change(({ name: _old, ...before }) => (name === '' ? before : { ...before, name }), '/name')
          }}
          className="border-transparent! bg-transparent! px-1! text-base! font-semibold hover:border-line! focus:border-line-strong!"
        />
        {!scope.readOnly && (
          <IconButton
            size="small"
            icon={Trash2}
            label="Delete node"
            onClick={() => {
              store.change((doc) => removeItems(doc, path, new Set([node.id]), new Set()))
              store.set({ focus: '' })
            }}
          />
        )}
      </header>
      <TryButtons id={node.id} />
      <div className="px-4 pb-6">
        <Tabs
          tabs={[
            { value: 'set-up', label: 'Configure', content: setUp },
            ...(hasData ? [{ value: 'data', label: 'Data', content: <NodeDataTab id={node.id} /> }] : []),
            { value: 'running', label: 'Settings', content: <RunningForm node={node} change={change} /> },
          ]}
        />
      </div>
    </FieldScopeProvider>
  )
}

/** Returns the only argument that changed: typing in it is one undo step. */
function aboutChange(before: JsonObject, after: JsonObject): string | undefined {
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => before[key] !== after[key],
  )
  return changed.length === 1 && Object.hasOwn(before, changed[0]!) ? `/args/${changed[0]}` : undefined
}

/** Problems of the node that belong to none of its fields. */
function LooseProblems({ id, schema }: { id: string; schema: JsonObject | undefined }) {
  const path = useEditor((state) => state.path)
  const problems = problemsOfNode(useProblems(), path, id)
  const own = Object.keys((schema?.properties ?? {}) as JsonObject)
  const loose = problems.filter(
    ({ place }) =>
      !own.some((name) => place.field.startsWith(`/args/${name}`)) &&
      !/^\/(retry|timeout_s|on_error|join|finally|disabled|id|name)/.test(place.field),
  )
  if (loose.length === 0) return null
  return (
    <ul className="flex flex-col gap-1">
      {loose.map(({ message, level }) => (
        <li
          key={message}
          className={
            level === 'error'
              ? 'rounded bg-danger-soft px-2.5 py-1.5 text-danger'
              : 'rounded bg-waiting-soft px-2.5 py-1.5 text-waiting'
          }
        >
          {message}
        </li>
      ))}
    </ul>
  )
}
