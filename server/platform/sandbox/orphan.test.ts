import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { until } from '#test/harness/until'

const caller = `
import { startProcess } from '#platform/sandbox/process'
const sandbox = startProcess()
await sandbox.ready
sandbox.call({ kind: 'code', source: 'for (;;);', timeMs: 600_000, memoryMb: 32 }, 'null', 600_000)
console.log('called')
`

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

it.runIf(process.platform === 'linux')(
  'endless code ends soon after the service that started it was killed',
  async () => {
    const service = spawn(process.execPath, ['--input-type=module', '-e', caller], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(service.stdout, 'data')
    const [sandbox] = childrenOf(service.pid!)
    expect(sandbox).toBeGreaterThan(0)
    service.kill('SIGKILL')
    await until(async () => !existsSync(`/proc/${sandbox}`), 'the sandbox process to end')
  },
)
