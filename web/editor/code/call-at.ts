// Finds the function call around the cursor, in CEL and JSONata.

type Call = {
  /** The name as written before the parenthesis: `size`, `math.floor`, `input.name.substring`, `.orElse`, `$sum`. */
  name: string
  from: number
  /** The index of the argument at the position, starting at 0. */
  argument: number
}

type Open = { bracket: string; name: string; from: number; commas: number }

const NAME = /\.?[A-Za-z_$](?:[\w$]|\.(?=[A-Za-z_]))*$/
/** A text to its end, or to the end of the input if it is not closed. */
const TEXT = /"(?:[^"\\]|\\.)*(?:"|$)|'(?:[^'\\]|\\.)*(?:'|$)/y
const PATTERN = /\/(?:[^/\\\n]|\\.)+\/[im]*/y
const COMMENT = /\/\/[^\n]*/y

const lengthOf = (what: RegExp, text: string, at: number): number => {
  what.lastIndex = at
  return what.exec(text)?.[0].length ?? 0
}

/**
 * Returns the length of a comment or pattern. A slash after a value divides; elsewhere a slash starts a pattern or a
 * comment.
 */
const slashed = (text: string, at: number): number =>
  lengthOf(COMMENT, text, at) || (/[\w$)\]]\s*$/.test(text.slice(0, at)) ? 0 : lengthOf(PATTERN, text, at))

export function callAt(text: string, at: number): Call | undefined {
  const before = text.slice(0, at)
  const open: Open[] = []
  for (let place = 0; place < before.length; place += 1) {
    const character = before[place]!
    const skipped =
      character === '"' || character === "'"
        ? lengthOf(TEXT, before, place)
        : character === '/'
          ? slashed(before, place)
          : 0
    if (skipped > 0) place += skipped - 1
    else if ('([{'.includes(character)) {
      const name = character === '(' ? (NAME.exec(before.slice(0, place))?.[0] ?? '') : ''
      open.push({ bracket: character, name, from: place - name.length, commas: 0 })
    } else if (')]}'.includes(character)) open.pop()
    else if (character === ',' && open.length > 0) open.at(-1)!.commas += 1
  }
  const call = open.findLast(({ name }) => name !== '')
  return call && { name: call.name, from: call.from, argument: call.commas }
}
