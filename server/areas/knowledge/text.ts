// Prepares a text for the search by words. Every replacement keeps the length, so that positions stay the same.

/** Removes the addresses of links, and separates the parts of names (http.request, MAX_BYTES, a/b) into words. */
export const searchable = (text: string): string =>
  text
    .replace(/\]\([^()\s]{1,2000}\)/g, (link) => `]${' '.repeat(link.length - 1)}`)
    .replace(/[._/\\:=<>{}()[\]"'`*#|-]/g, ' ')
    .replaceAll('\0', ' ')

/** Makes a text storable in PostgreSQL: without NUL characters and unpaired surrogates. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')

const OPEN = '\u0001'
const CLOSE = '\u0002'
/** The options of ts_headline. Its marks are control characters, which `unmarked` removes from the text. */
export const HEADLINE = `HighlightAll=true,StartSel=${OPEN},StopSel=${CLOSE}`
export const unmarked = (text: string): string => searchable(text).replaceAll(OPEN, ' ').replaceAll(CLOSE, ' ')

/**
 * Returns the positions of the marked words, in characters of the passage. Words that are separated only by a space are
 * one range.
 */
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
