// Checks that a real server makes on a request, so that the fake is not more lenient.

export class Refused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export const need: (holds: unknown, message: string, status?: number) => asserts holds = (
  holds,
  message,
  status = 400,
) => {
  if (!holds) throw new Refused(status, message)
}

export type Fields = Record<string, unknown>

export const fieldsOf = (value: unknown, where: string): Fields => {
  need(typeof value === 'object' && value !== null && !Array.isArray(value), `${where} must be an object`)
  return value as Fields
}

export const listOf = (value: unknown, where: string): unknown[] => {
  need(Array.isArray(value), `${where} must be a list`)
  return value
}

export const only = (value: Fields, allowed: string[], where: string): void => {
  for (const key of Object.keys(value)) need(allowed.includes(key), `Unknown parameter: ${where}${key}`)
}

export const textOf = (value: unknown, where: string): string => {
  need(typeof value === 'string', `${where} must be a text`)
  return value
}

/**
 * Checks a function that is offered to the model. Both protocols describe a function alike, but in different places.
 */
export const checkFunction = (value: Fields, where: string): string => {
  const name = textOf(value.name, `${where}.name`)
  need(/^[a-zA-Z0-9_-]{1,64}$/.test(name), `${where}.name does not match ^[a-zA-Z0-9_-]{1,64}$`)
  need(textOf(value.description, `${where}.description`).length <= 1024, `${where}.description is too long`)
  const parameters = fieldsOf(value.parameters, `${where}.parameters`)
  need(parameters.type === 'object', `${where}.parameters must have type object`)
  for (const keyword of ['oneOf', 'anyOf', 'allOf', 'enum', 'not'])
    need(!(keyword in parameters), `${where}.parameters may not have ${keyword} at the top`)
  need(!/"x-(?:editor|value)"/.test(JSON.stringify(parameters)), `${where}.parameters has unknown keywords`)
  need(value.strict !== true, `${where} is strict, but its schema was not made for that`)
  return name
}

/** Checks that each tool call gets exactly one answer, before any other message. */
export const makePairing = () => {
  const open = new Set<string>()
  const seen = new Set<string>()
  return {
    called: (id: string) => {
      need(!seen.has(id), `tool call ${id} stands twice`)
      seen.add(id)
      open.add(id)
    },
    answered: (id: string) => need(open.delete(id), `no tool call is waiting for the answer ${id}`),
    said: () => need(open.size === 0, `tool calls without an answer: ${[...open].join(', ')}`),
  }
}
