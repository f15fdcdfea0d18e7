import { isObject } from '#model/json'
import { type Exit, outputOf } from '../flow.ts'
import { NotConvertible, NotFilled } from '../js-ast.ts'
import type { Step } from '../step.ts'

/**
 * Converts a call of another workflow. Only its name is known, so the user must select the workflow after it is also
 * imported.
 */
export function subworkflow(step: Step): Exit[] {
  const { p } = step
  const id = isObject(p.workflowId) ? (p.workflowId.cachedResultName ?? p.workflowId.value) : p.workflowId
  if (p.source !== undefined && p.source !== 'database')
    throw new NotConvertible('the other workflow is in a file, at an address or in a parameter')
  if (typeof id !== 'string' || /^=?\s*$/.test(id)) throw new NotFilled('it names no workflow')
  step.byHand(`import the workflow that it runs too, then choose it here (${id.slice(0, 60)})`)
  return step.each(({ scope, add }) => {
    const inputs =
      isObject(p.workflowInputs) && isObject(p.workflowInputs.value) && Object.keys(p.workflowInputs.value).length > 0
        ? step.value(p.workflowInputs.value, scope, 'input')
        : step.guarded(scope.input.paired())
    return outputOf(
      add('code', {
        input: inputs,
        source: `throw new Error(${JSON.stringify('To do by hand: replace this node by a subworkflow node')})`,
      }),
    )
  })
}
