import { vi } from 'vitest'
import { main } from '#sdk/cli/cli'

export type Ended = { exit: number; stdout: string; stderr: string }

/**
 * Runs the command line in this process, with these environment variables. A new process takes half a second to start.
 */
export async function runCommand(args: string[], environment: Record<string, string | undefined> = {}): Promise<Ended> {
  let stdout = ''
  let stderr = ''
  const out = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    stdout += String(chunk)
    return true
  })
  const errors = vi.spyOn(console, 'error').mockImplementation((...words) => {
    stderr += `${words.join(' ')}\n`
  })
  const before = Object.keys(environment).map((name) => [name, process.env[name]] as const)
  set(Object.entries(environment))
  try {
    return { exit: await main(args), stdout, stderr }
  } finally {
    set(before)
    out.mockRestore()
    errors.mockRestore()
  }
}

function set(variables: Iterable<readonly [name: string, value: string | undefined]>): void {
  for (const [name, value] of variables) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
}
