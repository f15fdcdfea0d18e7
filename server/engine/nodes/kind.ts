import { NodeFailure, type NodeKind } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { validateJson } from '#model/json-schema'
import type { NodeDescriptor } from '#model/node'

/** A kind that the interpreter itself carries out; it has a description and nothing to run. */
export type ControlKind = {
  descriptor: NodeDescriptor
  control: true
  unavailable?(): string | null
  unavailableByDefault?(): string | null
}

export type AnyKind = NodeKind | ControlKind

export const isControl = (kind: AnyKind): kind is ControlKind => 'control' in kind

export const control = (descriptor: NodeDescriptor): ControlKind => ({ descriptor, control: true })

/** A schema of an object with just these fields. */
export const fields = (properties: JsonObject, required: string[] = [], more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
  ...more,
})

/** Text that is code: it stands in the definition as written, so `x-value` keeps expressions out of it. */
export const codeText = (editor: string, more: JsonObject = {}): JsonObject => ({
  type: 'string',
  'x-value': 'literal',
  'x-editor': editor,
  ...more,
})

/** An expression may turn out to be something else than the schema asks for; that is known only when it runs. */
export function checkArgs(descriptor: NodeDescriptor, args: JsonObject): void {
  const issues = validateJson(descriptor.args_schema, args)
  if (issues.length === 0) return
  const [first] = issues
  const message = `${descriptor.title}: ${first?.path.slice(1) || 'arguments'} ${first?.message}`
  throw new NodeFailure('args_invalid', message, { details: { errors: issues as unknown as Json[] }, retryable: false })
}

/** The kind with its resolved arguments checked before each attempt. */
export const checked = (kind: NodeKind): NodeKind => ({
  ...kind,
  async run(call) {
    checkArgs(kind.descriptor, call.args)
    return kind.run(call)
  },
})
