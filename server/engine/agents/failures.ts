import { NodeFailure } from '#engine/node'
import { ModelProblem } from '#providers/llm/problem'

/** The error of an agent whose definition grants a tool that cannot be granted. */
export const notGrantable = (message: string): NodeFailure =>
  new NodeFailure('tool_not_grantable', message, { retryable: false })

/** Converts an error of a model call to the error of a node. */
const asNodeFailure = (error: unknown, signal: AbortSignal): unknown => {
  if (error instanceof ModelProblem) {
    const { code, message, retryable, retryAfterMs } = error
    return new NodeFailure(code, message, {
      retryable,
      ...(retryAfterMs !== undefined && { retryAfterS: retryAfterMs / 1000 }),
    })
  }
  if (error instanceof NodeFailure) return error
  return signal.aborted ? new NodeFailure('aborted', 'this attempt has ended') : error
}

export const asNode = async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw asNodeFailure(error, signal)
  }
}
