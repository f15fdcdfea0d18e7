// Splits a text into passages. The Markdown headings above a passage are its path, and a passage never crosses a
// heading. It ends at a paragraph, a line, a sentence or a word, in this order of preference. Only whitespace is
// omitted.

export type Chunk = {
  /** The range of the passage in the document, in characters (code points). `to` is exclusive. */
  from: number
  to: number
  heading: string[]
  text: string
}

/** About 500 tokens. The benchmark's recall@5 was 0.84 with 1,200 characters, 0.89 with 1,600 and 0.90 with 2,000. */
const MAX_CHARS = 2_000
const MAX_HEADING = 200

type Block = { from: number; to: number }
type Section = { heading: string[]; blocks: Block[] }

export function chunkText(text: string): Chunk[] {
  const toCharacters = characterCounter(text)
  return [...sections(text)].flatMap(({ heading, blocks }) =>
    joined(blocks.flatMap((block) => cut(text, block))).map(({ from, to }) => ({
      from: toCharacters(from),
      to: toCharacters(to),
      heading,
      text: text.slice(from, to),
    })),
  )
}

/** Converts JavaScript string positions to characters (code points). Must be called with ascending positions. */
function characterCounter(text: string): (at: number) => number {
  let seen = 0
  let surrogates = 0
  return (at) => {
    for (; seen < at; seen += 1) {
      const code = text.charCodeAt(seen)
      if (code >= 0xdc00 && code <= 0xdfff) surrogates += 1
    }
    return at - surrogates
  }
}

/** Returns the blocks between blank lines, under their headings. There are no headings inside a code fence. */
function* sections(text: string): Generator<Section> {
  const path: { level: number; title: string }[] = []
  let section: Section = { heading: [], blocks: [] }
  let block: Block | undefined
  let fence: string | undefined
  const close = (): void => {
    if (block) section.blocks.push(block)
    block = undefined
  }
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from)
    const to = end === -1 ? text.length : end
    const line = text.slice(from, to)
    const marks = /^ {0,3}(```+|~~~+)/.exec(line)?.[1]
    const heading = fence === undefined ? headingOf(line) : undefined
    if (marks !== undefined) {
      if (fence === undefined) fence = marks
      else if (marks.startsWith(fence)) fence = undefined
    }
    if (heading) {
      close()
      if (section.blocks.length > 0) yield section
      while (path.length > 0 && path.at(-1)!.level >= heading.level) path.pop()
      path.push(heading)
      section = { heading: path.map(({ title }) => title), blocks: [] }
      // A heading without text below it is a passage as well, because it may be the only content.
      block = { from, to }
    } else if (line.trim() === '' && fence === undefined) close()
    else block = { from: block?.from ?? from, to }
    from = to + 1
  }
  close()
  if (section.blocks.length > 0) yield section
}

function headingOf(line: string): { level: number; title: string } | undefined {
  const marks = /^ {0,3}(#{1,6})[ \t]+/.exec(line)
  if (!marks) return undefined
  const title = line
    .slice(marks[0].length)
    .replace(/[ \t]+#*[ \t]*$/, '')
    .trim()
  return title === '' ? undefined : { level: marks[1]!.length, title: title.slice(0, MAX_HEADING) }
}

/** Joins neighbouring blocks while they fit into one passage. */
function joined(blocks: Block[]): Block[] {
  const chunks: Block[] = []
  for (const block of blocks) {
    const last = chunks.at(-1)
    if (last && block.to - last.from <= MAX_CHARS) last.to = block.to
    else chunks.push({ ...block })
  }
  return chunks
}

/** Splits a block that is too long at the best place before the limit. */
function cut(text: string, { from, to }: Block): Block[] {
  const parts: Block[] = []
  let start = from
  while (to - start > MAX_CHARS) {
    const end = start + placeToCut(text.slice(start, start + MAX_CHARS))
    parts.push({ from: start, to: end })
    start = end
    while (start < to && /\s/.test(text[start]!)) start += 1
  }
  if (start < to) parts.push({ from: start, to })
  return parts
}

function placeToCut(text: string): number {
  const least = text.length / 2
  const line = text.lastIndexOf('\n')
  if (line >= least) return line
  const sentence = Math.max(...['. ', '! ', '? ', '; '].map((end) => text.lastIndexOf(end)))
  if (sentence >= least) return sentence + 1
  const word = text.lastIndexOf(' ')
  if (word >= least) return word
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length
}
