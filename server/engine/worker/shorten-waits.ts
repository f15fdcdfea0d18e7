import { jsonSize } from '#model/size'
import type { WaitingFor } from '../ports.ts'

/** The maximum total size of the waits of an execution, without the first one. */
const MAX_WAITS_SIZE = 64 * 1024

const isKept = (field: string): boolean => /^(kind|node_id|since|until|.*_id)$/.test(field)

/**
 * Shortens waits. The waits of an execution are stored in its row and its journal, and are written again with every
 * answer: a thousand questions of 2 KiB would be four megabytes each time. Beyond a limit, waits lose the content of
 * their gates and questions, which is stored with these.
 */
export const shortenWaits = (waits: WaitingFor[]): WaitingFor[] => {
  let room = MAX_WAITS_SIZE
  return waits.map((wait, index) => {
    const size = jsonSize(wait, MAX_WAITS_SIZE)
    if (index === 0) return wait
    if (size <= room) {
      room -= size
      return wait
    }
    const left_out = Object.keys(wait).filter((field) => !isKept(field))
    if (left_out.length === 0) return wait
    const kept = Object.entries(wait).filter(([field]) => isKept(field))
    return { ...(Object.fromEntries(kept) as WaitingFor), left_out }
  })
}
