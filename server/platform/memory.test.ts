import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { slow } from '#test/harness/slow'

const child = join(import.meta.dirname, '..', '..', 'test', 'harness', 'resting-child.ts')

slow('an idle program returns the memory that its young generation used during work', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [child])
  const { worked, now } = JSON.parse(stdout) as { worked: number; now: number }
  expect(worked).toBeGreaterThan(8)
  expect(now).toBeLessThanOrEqual(worked / 4)
})
