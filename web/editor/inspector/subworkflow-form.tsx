import type { Json, JsonObject, Node } from '#model/definition'
import { useWorkflowInputs } from '#web/features/workflows/use-workflow-inputs.ts'
import { missingFields, withInputs } from '../document/called-inputs.ts'
import { FieldWarning } from '../fields/field-problem.tsx'
import { FieldsField } from '../fields/fields-field.tsx'
import { ValueField } from '../fields/value-field.tsx'
import type { Kind } from '../kinds.ts'

export const SUBWORKFLOW = 'subworkflow'

/** The arguments of a `subworkflow` node, with the fields of the input that the chosen workflow takes. */
export function SubworkflowForm({
  node,
  kind,
  onChange,
}: {
  node: Node
  kind: Kind
  onChange(args: JsonObject): void
}) {
  const args = node.args ?? {}
  const inputs = useWorkflowInputs(textOf(args.workflow_id), textOf(args.version_id) || undefined)
  const missing = missingFields(inputs, args.input)
  return (
    <>
      <FieldsField
        ValueField={ValueField}
        bare
        schema={withInputs(kind.args_schema, inputs, args.input)}
        value={args}
        pointer="/args"
        onChange={(next) => onChange(next as JsonObject)}
      />
      {missing.length > 0 && <FieldWarning>{`The workflow requires ${missing.join(', ')}`}</FieldWarning>}
    </>
  )
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
