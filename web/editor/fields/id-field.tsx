import { useId, useState } from 'react'
import { useAll, useApi } from '#web/api.ts'
import { CreateHere } from '#web/features/credentials/create-here.tsx'
import { workflowName } from '#web/features/workflows/built-in.ts'
import { mayRun } from '#web/features/workflows/role.ts'
import { useWorkflowId } from '#web/features/workflows/workflow-page.tsx'
import { useMe, useRole } from '#web/session.tsx'
import { t } from '#web/words/language.ts'
import { useFittingPresets } from '../services/choices.tsx'
import { AddButton } from './add-button.tsx'
import { SelectInput, TextInput } from './inputs.tsx'
import { useFieldScope } from './scope.tsx'

// Resources of the workspace are selected by name; the definition contains the id.

type Choice = { id: string; name: string }
type PickProps = { id: string; label: string; value: string; onChange(value: string): void }

export function IdField({ prefix, ...props }: PickProps & { prefix: string }) {
  switch (prefix) {
    case 'wf':
      return <WorkflowPick {...props} />
    case 'ds':
      return <DatasetPick {...props} />
    case 'kb':
      return <KnowledgePick {...props} />
    case 'conn':
      return <ConnectionPick {...props} />
    case 'cred':
      return <CredentialPick {...props} />
    case 'chan':
      return <ChannelPick {...props} />
    case 'usr':
      return <PersonPick {...props} />
    default:
      return <PlainId {...props} />
  }
}

function PlainId({ id, value, onChange }: PickProps) {
  const { readOnly } = useFieldScope()
  return (
    <TextInput
      id={id}
      disabled={readOnly}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      className="font-mono text-xs!"
    />
  )
}

function Pick({
  id,
  value,
  onChange,
  choices,
  nothing,
}: PickProps & { choices: Choice[] | undefined; nothing: string }) {
  const { readOnly } = useFieldScope()
  const known = choices?.some((choice) => choice.id === value)
  return (
    <SelectInput id={id} disabled={readOnly} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">{choices === undefined ? 'Loading…' : choices.length === 0 ? nothing : 'Choose…'}</option>
      {value !== '' && !known && <option value={value}>{value}</option>}
      {choices?.map((choice) => (
        <option key={choice.id} value={choice.id}>
          {choice.name}
        </option>
      ))}
    </SelectInput>
  )
}

function WorkflowPick(props: PickProps) {
  const own = useWorkflowId()
  const { userId } = useRole()
  const { data } = useAll('listWorkflows', { limit: 200 })
  return (
    <Pick
      {...props}
      nothing="No other workflows yet"
      choices={data
        ?.filter((one) => one.workflow_id !== own && (one.kind === 'system' || mayRun(one, userId)))
        .map((one) => ({ id: one.workflow_id, name: workflowName(one) }))}
    />
  )
}

function DatasetPick(props: PickProps) {
  const { data } = useAll('listDatasets', { limit: 200 })
  return (
    <Pick
      {...props}
      nothing="No datasets yet"
      choices={data?.map(({ dataset_id, name }) => ({ id: dataset_id, name }))}
    />
  )
}

function KnowledgePick(props: PickProps) {
  const { data } = useAll('listKnowledge', { limit: 200 })
  return (
    <Pick
      {...props}
      nothing="No knowledge bases yet"
      choices={data
        ?.filter(({ role }) => role !== 'manage')
        .map(({ knowledge_id, name }) => ({ id: knowledge_id, name }))}
    />
  )
}

function ConnectionPick(props: PickProps) {
  const { data } = useApi('listConnections', {})
  return (
    <Pick
      {...props}
      nothing="No connections yet"
      choices={data?.items.map(({ connection_id, name }) => ({ id: connection_id, name }))}
    />
  )
}

function CredentialPick(props: PickProps) {
  const { readOnly } = useFieldScope()
  const [creating, setCreating] = useState(false)
  const forModel = /model/i.test(props.label)
  const fitting = useFittingPresets()
  const { data } = useAll('listCredentials', { limit: 200, usable: 'true', ...(forModel && { kind: 'llm' }) })
  return (
    <div className="flex flex-col gap-1">
      <Pick
        {...props}
        nothing="No credentials yet"
        choices={data
          ?.filter(({ kind }) => forModel || kind !== 'llm')
          .filter(({ service }) => fitting === null || service === null || fitting.includes(service))
          .map(({ credential_id, name, hosts }) => ({ id: credential_id, name: `${name} (${hosts.join(', ')})` }))}
      />
      {!readOnly && <AddButton onClick={() => setCreating(true)}>Create one here</AddButton>}
      <CreateHere
        open={creating}
        onClose={() => setCreating(false)}
        key={fitting?.[0] ?? 'any'}
        kind={forModel ? 'llm' : fitting?.[0] === undefined ? 'bearer' : `service:${fitting[0]}`}
        onCreated={({ credential_id }) => props.onChange(credential_id)}
      />
    </div>
  )
}

function ChannelPick(props: PickProps) {
  const { data } = useAll('listChannelConfigs', { limit: 200 })
  return (
    <Pick
      {...props}
      nothing="No channels yet"
      choices={data?.map(({ config_id, name, channel, external_id }) => ({
        id: config_id,
        name: name ?? `${channel} ${external_id}`,
      }))}
    />
  )
}

function PersonPick(props: PickProps) {
  const { workspace } = useMe()
  const { data } = useAll('listWorkspaceMembers', { workspace_id: workspace!.workspace_id, limit: 200 })
  return <Pick {...props} nothing="No people yet" choices={data?.map(({ user_id, name }) => ({ id: user_id, name }))} />
}

function TeamPick(props: PickProps) {
  const { data } = useAll('listTeams', { limit: 200 })
  return <Pick {...props} nothing="No teams yet" choices={data?.map(({ team_id, name }) => ({ id: team_id, name }))} />
}

const roles: Choice[] = [
  { id: 'owner', name: t('Workspace owners') },
  { id: 'member', name: t('Workspace members') },
  { id: 'viewer', name: t('Workspace viewers') },
]

/** The field for an approver or answerer: its kind decides which field is shown. */
export function PartyId({ kind, value, onChange }: { kind: string; value: string; onChange(value: string): void }) {
  const id = useId()
  const label = { user: 'Person', team: 'Team', role: t('Role'), agent: 'Agent name' }[kind] ?? 'Id'
  const props = { id, label, value, onChange }
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {kind === 'user' ? (
        <PersonPick {...props} />
      ) : kind === 'team' ? (
        <TeamPick {...props} />
      ) : kind === 'role' ? (
        <Pick {...props} nothing="" choices={roles} />
      ) : (
        <PlainId {...props} />
      )}
    </div>
  )
}
