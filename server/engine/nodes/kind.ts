import { NodeFailure, type NodeKind } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { validateJson } from '#model/json-schema'
import type { NodeDescriptor } from '#model/node'

/** A node kind that the interpreter executes itself. It has a description and no `run`. */
export type ControlKind = {
  descriptor: NodeDescriptor
  control: true
  unavailable?(): string | null
  unavailableByDefault?(): string | null
}

export type AnyKind = NodeKind | ControlKind

export const isControl = (kind: AnyKind): kind is ControlKind => 'control' in kind

export const control = (descriptor: NodeDescriptor): ControlKind => ({ descriptor, control: true })

/** Returns a schema of an object with exactly these fields. */
export const fields = (properties: JsonObject, required: string[] = [], more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
  ...more,
})

/**
 * Returns the schema of a code field. The code must be literal in the definition, so `x-value` allows no expressions.
 */
export const codeText = (editor: string, more: JsonObject = {}): JsonObject => ({
  type: 'string',
  'x-value': 'literal',
  'x-editor': editor,
  ...more,
})

/** Throws if the arguments do not match the schema. The values of expressions are known only when the node runs. */
export function checkArgs(descriptor: NodeDescriptor, args: JsonObject): void {
  const issues = validateJson(descriptor.args_schema, args)
  if (issues.length === 0) return
  const [first] = issues
  const message = `${descriptor.title}: ${first?.path.slice(1) || 'arguments'} ${first?.message}`
  throw new NodeFailure('args_invalid', message, { details: { errors: issues as unknown as Json[] }, retryable: false })
}

/** Returns the kind with a check of its resolved arguments before each attempt. */
export const checked = (kind: NodeKind): NodeKind => ({
  ...kind,
  async run(call) {
    checkArgs(kind.descriptor, call.args)
    return kind.run(call)
  },
})
