import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '#platform/log'

// In a checkout, the console is built at the start of the service if its sources have changed. The bundler runs in a
// separate process, so that the service does not keep it in memory. The published package contains the built console.

const PACKAGED = join(import.meta.dirname, '..', 'console')
const SCRIPT = join(import.meta.dirname, '..', 'scripts', 'build-web.ts')

/** Returns the directory of the built console, or undefined if the build failed: the API works without it. */
export async function buildConsole(log: Logger): Promise<string | undefined> {
  if (existsSync(PACKAGED)) return PACKAGED
  const { findBuilt } = await import('../scripts/build-web.ts')
  const built = findBuilt()
  if (built !== undefined) return built
  const began = performance.now()
  try {
    const directory = await runBuild()
    log.info({ took_ms: Math.round(performance.now() - began) }, 'the console was built')
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
