// How a text is read for its words. Every replacement keeps the length, so that a place in one is the same place in the other.

/** Addresses of links are no words of the text, and the parts of names (http.request, MAX_BYTES, a/b) are words of their own. */
export const searchable = (text: string): string =>
  text
    .replace(/\]\([^()\s]{1,2000}\)/g, (link) => `]${' '.repeat(link.length - 1)}`)
    .replace(/[._/\\:=<>{}()[\]"'`*#|-]/g, ' ')
    .replaceAll('\0', ' ')

/** What PostgreSQL can store: no zero characters and no halves of a pair. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')

const OPEN = '\u0001'
const CLOSE = '\u0002'
/** For ts_headline, whose marks stand nowhere else: control characters are no part of `searchable` texts that are marked. */
export const HEADLINE = `HighlightAll=true,StartSel=${OPEN},StopSel=${CLOSE}`
export const unmarked = (text: string): string => searchable(text).replaceAll(OPEN, ' ').replaceAll(CLOSE, ' ')

/** Where the marked words stand, in characters of the passage; neighbours that only a space parts are one. */
export function highlightsIn(marked: string): [from: number, to: number][] {
  const found: [number, number][] = []
  let at = 0
  let from = 0
  for (const character of marked) {
    if (character === OPEN) from = at
    else if (character === CLOSE) {
      const last = found.at(-1)
      if (last && from - last[1] <= 1) last[1] = at
      else found.push([from, at])
    } else at += 1
  }
  return found
}
