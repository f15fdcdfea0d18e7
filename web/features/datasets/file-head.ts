// The first records of a file, read in the browser before anything is sent.

const HEAD_BYTES = 64 * 1024
const MAX_ROWS = 6
const MAX_COLUMNS = 30

export type FileHead = { columns: string[]; rows: string[][] }

/** Returns the start of a file as text, decompressed if it is gzipped. */
export async function readHead(file: Blob): Promise<string> {
  const start = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  const isGzip = start[0] === 0x1f && start[1] === 0x8b
  if (!isGzip) return file.slice(0, HEAD_BYTES).text()
  const reader = file.stream().pipeThrough(new DecompressionStream('gzip')).getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (text.length < HEAD_BYTES) {
    const { value, done } = await reader.read()
    if (done) break
    text += decoder.decode(value, { stream: true })
  }
  void reader.cancel()
  return text
}

/** Returns the columns and first rows; null if the text cannot be parsed. */
export function headOf(text: string): FileHead | null {
  const trimmed = text.replace(/^\uFEFF/, '').trimStart()
  if (trimmed === '') return null
  if (trimmed.startsWith('[') || trimmed.startsWith('{')) return jsonHead(trimmed)
  const [columns, ...rows] = csvRows(trimmed, delimiterOf(trimmed), MAX_ROWS)
  if (!columns) return null
  return { columns: columns.slice(0, MAX_COLUMNS), rows: rows.map((row) => row.slice(0, MAX_COLUMNS)) }
}

const delimiterOf = (text: string): string => {
  const line = text.slice(0, text.search(/[\r\n]|$/))
  const count = (mark: string): number => line.split(mark).length
  return [',', ';', '\t', '|'].sort((a, b) => count(b) - count(a))[0]!
}

/**
 * Parses CSV. Quoted cells may contain separators and line ends; a quote inside is doubled. The last row is left out if
 * it is incomplete.
 */
export function csvRows(text: string, delimiter: string, maxRows: number): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let quoted = false
  for (let index = 0; index < text.length && rows.length < maxRows; index += 1) {
    const letter = text[index]!
    if (quoted) {
      if (letter !== '"') cell += letter
      else if (text[index + 1] === '"') {
        cell += '"'
        index += 1
      } else quoted = false
    } else if (letter === '"' && cell === '') quoted = true
    else if (letter === delimiter || letter === '\n' || letter === '\r') {
      row.push(cell)
      cell = ''
      if (letter === delimiter) continue
      if (letter === '\r' && text[index + 1] === '\n') index += 1
      if (row.length > 1 || row[0] !== '') rows.push(row)
      row = []
    } else cell += letter
  }
  if (rows.length < maxRows && text.length < HEAD_BYTES && (cell !== '' || row.length > 0)) rows.push([...row, cell])
  return rows
}

function jsonHead(text: string): FileHead | null {
  const records = text.startsWith('[') ? wholeList(text) : lines(text)
  const objects = records.filter((record) => typeof record === 'object' && record !== null).slice(0, MAX_ROWS - 1)
  if (objects.length === 0) return null
  const columns = [...new Set(objects.flatMap((record) => Object.keys(record as object)))].slice(0, MAX_COLUMNS)
  const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
  return {
    columns,
    rows: objects.map((record) => columns.map((name) => shown((record as Record<string, unknown>)[name]))),
  }
}

const read = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const lines = (text: string): unknown[] => text.split(/\r?\n/).slice(0, MAX_ROWS).map(read)

/** Parses a list; a list that is longer than the text is cut after one of its first records. */
function wholeList(text: string): unknown[] {
  const whole = read(text)
  if (Array.isArray(whole)) return whole
  for (let end = text.lastIndexOf('}'), tries = 0; end > 0 && tries < 40; tries += 1) {
    const cut = read(`${text.slice(0, end + 1)}]`)
    if (Array.isArray(cut)) return cut
    end = text.lastIndexOf('}', end - 1)
  }
  return []
}
