import { jsonSize } from '#model/size'

/** About what is written in one slice: 2 to 5 ms. */
const SLICE_SIZE = 512 * 1024

/**
 * Writes a value of an execution down as JSON.stringify does, part by part. Before each slice but the first it waits for `next`.
 * `check` sees each part, so that it can refuse before the rest is written.
 */
export async function writeInSlices(
  value: unknown,
  next: () => Promise<void>,
  check: (part: string, written: number) => void,
): Promise<string> {
  const parts: string[] = []
  let written = 0
  let inSlice = 0

  const add = (part: string): void => {
    parts.push(part)
    written += part.length
  }
  const put = async (part: unknown): Promise<void> => {
    const size = jsonSize(part, SLICE_SIZE)
    if (size > SLICE_SIZE && typeof part === 'object' && part !== null)
      return Array.isArray(part) ? putList(part) : putObject(part)
    if (inSlice > 0 && inSlice + size > SLICE_SIZE) {
      await next()
      inSlice = 0
    }
    inSlice += size
    const text = JSON.stringify(part) ?? 'null'
    add(text)
    check(text, written)
  }
  const putList = async (list: unknown[]): Promise<void> => {
    let lead = '['
    for (const part of list) {
      add(lead)
      await put(part)
      lead = ','
    }
    add(']')
  }
  const putObject = async (object: object): Promise<void> => {
    let lead = '{'
    for (const [key, part] of Object.entries(object)) {
      if (part === undefined) continue
      const name = JSON.stringify(key)
      add(`${lead}${name}:`)
      check(name, written)
      await put(part)
      lead = ','
    }
    add('}')
  }

  await put(value ?? null)
  return parts.join('')
}
