/** What somebody typed as a value: JSON where it reads as JSON, else the text itself. */
export function readValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** How a value is shown for editing, such that `readValue` gives it back. */
export const showValue = (value: unknown): string =>
  typeof value === 'string' && readValue(value) === value ? value : JSON.stringify(value, null, 2)
