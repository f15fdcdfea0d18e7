// A text of a conversation as it is shown: addresses of the web in it become links. What is not an address stays text, whatever it looks like.

export type Piece = { text: string; url?: string }

const ADDRESS = /https?:\/\/[^\s"'<>]+/g
/** What ends a sentence is not part of the address in it. */
const AFTER = /[.,;:!?)\]}]+$/
const FILE = /^\/files\/file_\w{26}\//

/** `origin`: where the service is. Addresses of its files are long, so a word stands for them; all others are shown as they are. */
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
