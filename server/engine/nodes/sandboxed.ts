import { type NodeCall, NodeFailure, type NodeResult } from '#engine/node'
import { SandboxFailure, type SandboxResult } from '#platform/sandbox/sandbox'

/** Failures that would happen again. Code that threw or ran too long may succeed on another attempt. */
const PERMANENT = new Set(['input_too_large', 'result_too_large', 'transform_failed'])
/**
 * The sandbox stops this many milliseconds before the engine would end the attempt with a plain `timeout`, so that
 * the reason is known.
 */
const TELL_BEFORE_MS = 100

export const waitMsOf = (timeoutS: number | undefined): number | undefined =>
  timeoutS === undefined ? undefined : Math.max(0, timeoutS * 1000 - TELL_BEFORE_MS)

/** Converts the result of a sandbox call to the result of a node. */
export async function sandboxed(
  call: Promise<SandboxResult>,
  { attempt, progress, say }: Pick<NodeCall, 'attempt' | 'progress' | 'say'>,
): Promise<NodeResult> {
  const keep = async ({ logs, levels }: Pick<SandboxResult, 'logs' | 'levels'>): Promise<void> => {
    if (logs.length === 0) return
    await say?.(
      `run:${attempt}`,
      logs.map((message, at) => ({ level: levels[at] ?? 'info', message })),
    )
  }
  try {
    const result = await call
    const { output, logs } = result
    await keep(result)
    if (logs.length > 0) progress({ logs })
    return { output }
  } catch (error) {
    if (!(error instanceof SandboxFailure)) throw error
    await keep(error)
    throw new NodeFailure(error.code, error.message, {
      retryable: !PERMANENT.has(error.code),
      ...(error.logs.length > 0 ? { details: { logs: error.logs } } : {}),
    })
  }
}
