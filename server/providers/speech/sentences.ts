// The voice speaks only plain English letters. Symbols that it would silently drop are replaced by words here. Long
// text is split into sentences, so that one request never occupies the audio process for long and an aborted request
// stops at the next sentence.

const MAX_PIECE = 300
const MAX_WORD = 60

const spoken: [RegExp, string][] = [
  [/[\u2018\u2019\u201b]/g, "'"],
  [/[\u201c\u201d\u201e\u00ab\u00bb]/g, '"'],
  [/[\u2013\u2014]/g, ', '],
  [/\u2026/g, '...'],
  [/(€\s?)(\d[\d.,]*)/g, '$2 euros'],
  [/(£\s?)(\d[\d.,]*)/g, '$2 pounds'],
  [/€/g, ' euros '],
  [/£/g, ' pounds '],
  [/&/g, ' and '],
  [/%/g, ' percent '],
  [/°/g, ' degrees '],
  [/ß/g, 'ss'],
  [/[æÆ]/g, 'ae'],
  [/[øØ]/g, 'o'],
  [/[łŁ]/g, 'l'],
]

const plainText = (text: string): string => {
  const words = spoken.reduce((current, [pattern, word]) => current.replace(pattern, word), text)
  return (
    words
      .normalize('NFKD')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what is removed
      .replace(/[\u0300-\u036f\u0000-\u0008\u000b-\u001f\u007f]/g, '')
      .replace(/[^\n\t\x20-\x7e]/g, ' ')
      .replace(/[ \t]+/g, ' ')
      .trim()
  )
}

const cutLongWords = (piece: string) => piece.replace(new RegExp(`\\S{${MAX_WORD}}(?=\\S)`, 'g'), '$& ')

const cutAtSpaces = (piece: string): string[] => {
  const parts: string[] = []
  let rest = piece
  while (rest.length > MAX_PIECE) {
    const head = rest.slice(0, MAX_PIECE)
    const comma = Math.max(head.lastIndexOf(', '), head.lastIndexOf('; '))
    const cut = comma > MAX_PIECE / 3 ? comma + 1 : Math.max(head.lastIndexOf(' '), 1)
    parts.push(rest.slice(0, cut).trim())
    rest = rest.slice(cut).trim()
  }
  return [...parts, rest]
}

/** Returns the text as the voice will speak it, in pieces. Empty if nothing in the text can be spoken. */
export const toSentences = (text: string): string[] =>
  plainText(text)
    .split(/\n+|(?<=[.!?]["')]?)\s+(?=["'(]?[A-Z0-9])/)
    .map((piece) => cutLongWords(piece.trim()))
    .flatMap(cutAtSpaces)
    .filter((piece) => /[A-Za-z0-9]/.test(piece))
