/** Parses a typed value: as JSON if it is valid JSON, otherwise as the text itself. */
export function readValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Returns the text of a value for editing, such that `readValue` returns the same value. */
export const showValue = (value: unknown): string =>
  typeof value === 'string' && readValue(value) === value ? value : JSON.stringify(value, null, 2)
