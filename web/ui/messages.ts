import { ConnectionFailed, HeddleProblem, TimedOut } from '#sdk/problems'
import { translateMessage } from '#web/words/messages.ts'

/** Returns the message for the user about a failure. */
export function messageOf(error: unknown): string {
  if (error instanceof HeddleProblem) {
    const details = error.errors.map(({ path, message }) =>
      path === '' ? translateMessage(message) : `${path.slice(1)} ${translateMessage(message)}`,
    )
    return details.length > 0 ? details.join('; ') : translateMessage(error.message)
  }
  if (error instanceof ConnectionFailed || error instanceof TimedOut || error instanceof TypeError)
    return 'Cannot reach the service. Check your connection and try again.'
  return error instanceof Error ? error.message : 'Something went wrong. Try again.'
}

export const isRefusal = (error: unknown, ...statuses: number[]): error is HeddleProblem =>
  error instanceof HeddleProblem && statuses.includes(error.status)
