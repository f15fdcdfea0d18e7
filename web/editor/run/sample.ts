// The last input that a draft was tested with, stored on this device.

const keyOf = (workflowId: string): string => `heddle.sample.${workflowId}`

export function readSample(workflowId: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(keyOf(workflowId)) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

export function keepSample(workflowId: string, input: unknown): void {
  try {
    localStorage.setItem(keyOf(workflowId), JSON.stringify(input))
  } catch {
    // The input is not remembered then.
  }
}
