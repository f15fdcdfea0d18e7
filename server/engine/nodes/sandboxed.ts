import { NodeFailure, type NodeResult } from '#engine/node'
import { SandboxFailure, type SandboxResult } from '#platform/sandbox/sandbox'

/** What would happen again. Code that threw or ran too long may have met something that passes. */
const PERMANENT = new Set(['input_too_large', 'result_too_large', 'transform_failed'])
/** Before the engine ends the attempt with a bare `timeout`, so that the reason is told. */
const TELL_BEFORE_MS = 100

export const waitMsOf = (timeoutS: number | undefined): number | undefined =>
  timeoutS === undefined ? undefined : Math.max(0, timeoutS * 1000 - TELL_BEFORE_MS)

/** A call of the sandbox as a node's result. */
export async function sandboxed(
  call: Promise<SandboxResult>,
  progress: (data: { logs: string[] }) => void,
): Promise<NodeResult> {
  try {
    const { output, logs } = await call
    if (logs.length > 0) progress({ logs })
    return { output }
  } catch (error) {
    if (!(error instanceof SandboxFailure)) throw error
    throw new NodeFailure(error.code, error.message, {
      retryable: !PERMANENT.has(error.code),
      ...(error.logs.length > 0 ? { details: { logs: error.logs } } : {}),
    })
  }
}
