import jsonata from 'jsonata'
import { Refused, withinSize } from './inside-refused.ts'

const MAX_DEPTH = 2_000
export const MAX_EXPRESSION = 64 * 1024

/** Evaluates JSONata on plain JSON. The parent process enforces the timeout, with SIGKILL. */
export async function runTransform(source: string, inputText: string): Promise<string> {
  if (source.length > MAX_EXPRESSION) throw new Refused('transform_failed', 'the expression is too long')
  const input: unknown = JSON.parse(inputText)
  let result: unknown
  try {
    const expression = jsonata(source)
    limitDepth(expression)
    result = await expression.evaluate(input)
    return withinSize(JSON.stringify(result, (_key, value) => (isFunction(value) ? null : value)) ?? 'null')
  } catch (error) {
    if (error instanceof Refused) throw error
    throw new Refused('transform_failed', describe(error))
  }
}

/** JSONata represents functions, its own and those of the expression, as marked objects. */
const isFunction = (value: unknown): boolean =>
  typeof value === 'function' ||
  (typeof value === 'object' && value !== null && ('_jsonata_function' in value || '_jsonata_lambda' in value))

/** Makes endless recursion an error of the expression instead of a crash of the process. */
function limitDepth(expression: jsonata.Expression): void {
  let depth = 0
  expression.assign(Symbol.for('jsonata.__evaluate_entry') as unknown as string, () => {
    depth += 1
    if (depth > MAX_DEPTH) throw new Refused('transform_failed', 'the expression recurses too deeply')
  })
  expression.assign(Symbol.for('jsonata.__evaluate_exit') as unknown as string, () => {
    depth -= 1
  })
}

export function describe(error: unknown): string {
  const { message, position } = (error ?? {}) as { message?: unknown; position?: unknown }
  const text = typeof message === 'string' ? message : 'the expression failed'
  return typeof position === 'number' ? `${text} (at character ${position})` : text
}
