import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { objectOf } from '../lenient.ts'
import { celOut, type Out, textOf } from '../out.ts'
import type { Scope } from '../scope.ts'
import type { Attached, Step } from '../step.ts'

// The nodes attached to a LangChain node, and its prompt.

export const attachedOf = (step: Step, kind: string): Attached[] =>
  step.work.attached(step.node.name).filter((one) => one.kind === kind && !one.node.disabled)

/** Returns the credential and the settings of the model attached to a node; the workspace chooses the model. */
export function modelOf(step: Step): { args: JsonObject; credential: { name: string; kind: string } | undefined } {
  const model = attachedOf(step, 'ai_languageModel')[0]?.node ?? step.node
  const options = objectOf(model.parameters.options)
  const named = model.parameters.model ?? model.parameters.modelId ?? model.parameters.modelName
  const name = isObject(named) ? named.value : named
  if (typeof name === 'string' && name !== '')
    step.remark(
      `it used the model ${name.replace(/^=/, '').slice(0, 60)}; here the model of the credential or of the installation is used`,
    )
  const temperature = Number(options.temperature)
  const [kind, credential] = Object.entries(model.credentials)[0] ?? []
  return {
    args: { ...(options.temperature !== undefined && temperature >= 0 && temperature <= 2 && { temperature }) },
    credential: kind === undefined || credential === undefined ? undefined : { name: credential, kind },
  }
}

export function promptOf(step: Step, scope: Scope): Out {
  const { p } = step
  const isAuto =
    p.promptType === 'auto' || (p.promptType === undefined && p.text === undefined && p.prompt === undefined)
  return isAuto ? step.out('={{ $json.chatInput }}', scope, 'prompt') : step.out(p.text ?? p.prompt, scope, 'prompt')
}

export const asText = (step: Step, of: Out): Json => step.guarded(of.path ? of : celOut(textOf(of), 'text'))
