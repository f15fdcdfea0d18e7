// The input that a draft was tried with last, kept on this device.

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
    // Not remembered then.
  }
}
