import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Logger } from '#platform/log'
import { findBuilt } from '../scripts/build-web.ts'

// The console is built when the service starts and its sources have changed. The bundler stays in a process of its own,
// which ends: the service need not carry it along.

const SCRIPT = join(import.meta.dirname, '..', 'scripts', 'build-web.ts')

/** Where the built console is, or undefined where it could not be built: the API works without it. */
export async function buildConsole(log: Logger): Promise<string | undefined> {
  const built = findBuilt()
  if (built !== undefined) return built
  const began = performance.now()
  try {
    const directory = await runBuild()
    log.info({ took_ms: Math.round(performance.now() - began) }, 'the console is built')
    return directory
  } catch (error) {
    log.error({ err: error }, 'the console could not be built; the API is served without it')
    return undefined
  }
}

function runBuild(): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [SCRIPT], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text
    })
    child.once('error', reject)
    child.once('close', (code) => {
      const directory = output.trim().split('\n').at(-1)
      if (code === 0 && directory) resolve(directory)
      else reject(new Error(errors.trim() || output.trim() || `the build ended with ${code}`))
    })
  })
}
