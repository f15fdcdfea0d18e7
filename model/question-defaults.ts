import type { Graph, Json } from './definition.ts'
import { isExpression } from './expressions.ts'
import { allNodesWithPaths } from './graph-ids.ts'
import type { Issue } from './issue.ts'
import { isObject } from './json.ts'
import { MAX_STEPS, validateJson } from './json-schema.ts'
import { checkSchema } from './json-schema-check.ts'

/**
 * Finds questions that use a default answer when they are due, but whose default answer does not match their schema:
 * the question would fail instead. What an expression computes is checked only when the question is due.
 */
export function unusableDefaults(definition: Graph): Issue[] {
  const shared = { steps: MAX_STEPS }
  const found: Issue[] = []
  for (const { node, path } of allNodesWithPaths(definition)) {
    const { schema = {}, on_due, default: answer } = node.args ?? {}
    if (node.type !== 'clarification' || on_due !== 'default' || shared.steps < 0) continue
    if (isComputed(schema) || isComputed(answer) || checkSchema(schema).length > 0) continue
    const [issue] = validateJson(schema, answer ?? null, { shared })
    if (!issue || shared.steps < 0) continue
    found.push(
      answer === undefined
        ? { path: `${path}/args/on_due`, message: 'needs a default answer that matches the schema' }
        : {
            path: `${path}/args/default${issue.path}`,
            message: `does not match the schema, so it is not used when the question is due: ${issue.message}`,
          },
    )
  }
  return found
}

function isComputed(value: Json | undefined): boolean {
  if (value === undefined) return false
  if (isExpression(value)) return true
  if (Array.isArray(value)) return value.some(isComputed)
  return isObject(value) && Object.values(value).some(isComputed)
}
