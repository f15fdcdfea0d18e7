// Names that code behind the wall generates itself, such as the id of a channel, differ in each run. When code runs
// again with the responses of an earlier run, its current requests are compared with the original ones.

/** The maximum size of a request that is recorded. */
export const MAX_RECORDED_REQUEST = 8 * 1024
/** The minimum length of a word. Shorter words may also mean something else. */
const MIN_LENGTH = 8
const WORD = /[\w-]+/g

/**
 * Returns each word that differs, with the word in its place in the earlier request. Empty if the requests have
 * different structures.
 */
export function generatedNamesIn(then: string, now: string): [now: string, then: string][] {
  const earlier = then.match(WORD) ?? []
  const later = now.match(WORD) ?? []
  if (earlier.length !== later.length || then.replaceAll(WORD, '') !== now.replaceAll(WORD, '')) return []
  return later.flatMap((word, at) =>
    word !== earlier[at] && word.length >= MIN_LENGTH ? [[word, earlier[at]!] as [string, string]] : [],
  )
}
