import { NodeFailure, type NodeResult } from '#engine/node'
import { SandboxFailure, type SandboxResult } from '#platform/sandbox/sandbox'

/** A call of the sandbox as a node's result; only a full queue is worth another attempt. */
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
      retryable: error.code === 'sandbox_busy',
      ...(error.logs.length > 0 ? { details: { logs: error.logs } } : {}),
    })
  }
}
