const LOOK_AT = 64 * 1024 * 1024

export type LineOfFile = { number: number; text: string; bad: boolean }

/** Returns the line number in an error message, if there is one. */
export const lineIn = (message: string): number | null => {
  const found = /line (\d+)/i.exec(message)
  return found ? Number(found[1]) : null
}

/** Returns that line of the file and its neighbours, so that the user can see the error without opening the file. */
export async function linesAround(file: Blob, bad: number, margin = 1): Promise<LineOfFile[]> {
  const head = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  if (head[0] === 0x1f && head[1] === 0x8b) return []
  const text = await file.slice(0, LOOK_AT).text()
  const lines = text.split(/\r\n|\n|\r/)
  return lines.slice(Math.max(0, bad - 1 - margin), bad + margin).map((line, at) => ({
    number: Math.max(1, bad - margin) + at,
    text: line.slice(0, 500),
    bad: Math.max(1, bad - margin) + at === bad,
  }))
}
