import { readFileSync } from 'node:fs'
import { delay } from '../send.ts'
import type { KeyRotation } from '../types.generated.ts'
import { clientFromEnvironment } from './credentials.ts'

const LOOK_EVERY = 1_000

/** Begins a rotation, or watches the one under way, until only restarts are left or it is over. */
export async function rotateKey(
  _words: string[],
  values: { 'new-key-file'?: string; json?: boolean; workspace?: string },
): Promise<void> {
  const client = clientFromEnvironment(values)
  const file = values['new-key-file']
  let state = await client.getKeyRotation()
  if (!state.rotation)
    state = await client.rotateKey(file === undefined ? {} : { key: readFileSync(file, 'utf8').trim() })
  while (state.rotation && !waitsForRestarts(state)) {
    console.error(`${state.rotation.phase}: ${state.rotation.sealed} values under the new key ${state.rotation.to}`)
    await delay(LOOK_EVERY)
    state = await client.getKeyRotation()
  }
  process.stdout.write(values.json ? `${JSON.stringify(state, null, 2)}\n` : `${summary(state)}\n`)
}

const outdated = ({ rotation, processes }: KeyRotation) =>
  processes.filter(({ configured, source }) => source === 'environment' && configured !== rotation?.to)

const waitsForRestarts = (state: KeyRotation): boolean =>
  state.rotation?.phase === 'restarting' && outdated(state).length > 0

function summary(state: KeyRotation): string {
  const { rotation, current } = state
  if (!rotation) return `Done. Every secret is sealed with the key ${current}; the old key opens nothing any more.`
  return [
    `Every secret is sealed with the key ${rotation.to}.`,
    `Start these processes again with the new HEDDLE_SECRET_KEY, one after the other (${outdated(state).length} left).`,
    `Once all have it, the old key ${rotation.from} opens nothing any more.`,
  ].join('\n')
}
