import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** Opens files up to the limit, then starts a child, and waits until a late error would have ended the process. */
const PROGRAM = `
  import { openSync } from 'node:fs'
  import { startLimited } from '${join(import.meta.dirname, 'start.ts')}'
  try { for (;;) openSync('/dev/null', 'r') } catch {}
  let message = 'started'
  try { startLimited('/nothing.ts', [], { cpuSeconds: 1 }) } catch (error) { message = error.message }
  setImmediate(() => process.stdout.write(message))
`

test('a process with too many open files gets an error instead of a child, and does not end', () => {
  const script = 'ulimit -n 64; exec "$0" --no-warnings --input-type=module -e "$1"'
  const { stdout, status } = spawnSync('/bin/sh', ['-c', script, process.execPath, PROGRAM], { encoding: 'utf8' })
  expect({ stdout, status }).toEqual({
    stdout: 'no process can be started, because this process has too many open files',
    status: 0,
  })
})
