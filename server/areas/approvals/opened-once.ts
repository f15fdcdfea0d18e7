import { isUniqueViolation } from '#platform/db/pool'

/**
 * Two workers may open the same gate or question at the same time: one lost its connection and was given up, the other took
 * its execution over. The second to come is refused by the index, and finds what the first has opened.
 */
export async function openedOnce<T>(index: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (error) {
    if (!isUniqueViolation(error, index)) throw error
    return open()
  }
}
