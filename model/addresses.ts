// Splits the text of a conversation for display: web addresses become links. All other text stays plain text.

export type Piece = { text: string; url?: string }

const ADDRESS = /https?:\/\/[^\s"'<>]+/g
/** Punctuation at the end of a sentence is not part of the address before it. */
const AFTER = /[.,;:!?)\]}]+$/
const FILE = /^\/files\/file_\w{26}\//

/**
 * Splits a text into plain text and links. `origin` is the origin of the service. Addresses of its files are long, so
 * they are shown as one word; all other addresses are shown unchanged.
 */
export function piecesOf(text: string, origin: string): Piece[] {
  const pieces: Piece[] = []
  let end = 0
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const url = found.replace(AFTER, '')
    if (!URL.canParse(url)) continue
    if (index > end) pieces.push({ text: text.slice(end, index) })
    end = index + url.length
    const parsed = new URL(url)
    pieces.push({ text: parsed.origin === origin && FILE.test(parsed.pathname) ? 'Download' : url, url })
  }
  if (end < text.length) pieces.push({ text: text.slice(end) })
  return pieces
}
