// Names that code behind the wall makes up itself, such as the id of a channel, are others each time that it runs. Where it is run again with the
// answers of an earlier run, what it says now is held against what it said then.

/** More is not kept of a request. */
export const MAX_SAID = 8 * 1024
/** Shorter ones may stand for something else as well. */
const SHORTEST = 8
const WORD = /[\w-]+/g

/** What is said now, by what was said then in its place; empty where the requests are not built alike. */
export function inventedIn(then: string, now: string): [now: string, then: string][] {
  const earlier = then.match(WORD) ?? []
  const later = now.match(WORD) ?? []
  if (earlier.length !== later.length || then.replaceAll(WORD, '') !== now.replaceAll(WORD, '')) return []
  return later.flatMap((word, at) =>
    word !== earlier[at] && word.length >= SHORTEST ? [[word, earlier[at]!] as [string, string]] : [],
  )
}
