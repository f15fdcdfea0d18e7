import type { JsonObject, Node } from '#model/definition'
import { useAll, useApi } from '#web/api.ts'
import { FieldsField } from '../fields/fields-field.tsx'
import { ValueField } from '../fields/value-field.tsx'
import type { Kind } from '../kinds.ts'
import { ServiceChoices } from './choices.tsx'
import { changedServiceArgs, serviceArgsSchema } from './service-args.ts'

/** The arguments of a `service.call` node, with the form of the chosen action. */
export function ServiceForm({ node, kind, onChange }: { node: Node; kind: Kind; onChange(args: JsonObject): void }) {
  const args = node.args ?? {}
  const service = typeof args.service === 'string' ? args.service : ''
  const { data: services } = useAll('listServices', { limit: 200 })
  const listed = services?.find((one) => one.service === service)
  const isImported = listed !== undefined && listed.source !== 'built_in'
  // An imported service can have thousands of actions: the schema of the chosen action is enough.
  const only = isImported && typeof args.action === 'string' && args.action !== '' ? { action: args.action } : {}
  const { data: detail } = useApi(
    'getService',
    { service, ...only },
    { enabled: services !== undefined && service !== '' },
  )
  return (
    <ServiceChoices service={service} args={args} presets={isImported ? null : (detail?.credentials ?? [])}>
      <FieldsField
        ValueField={ValueField}
        bare
        schema={serviceArgsSchema(kind.args_schema, args, services, detail)}
        value={args}
        pointer="/args"
        onChange={(next) => onChange(changedServiceArgs(args, next as JsonObject, detail))}
      />
    </ServiceChoices>
  )
}
