import { isUniqueViolation } from '#platform/db/pool'

/**
 * Two workers may open the same gate or question at the same time: one lost its connection and its lease, and the
 * other took over the execution. The unique index refuses the second insert; the retry then finds the row of the
 * first.
 */
export async function openedOnce<T>(index: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (error) {
    if (!isUniqueViolation(error, index)) throw error
    return open()
  }
}
