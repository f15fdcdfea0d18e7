import { readFileSync } from 'node:fs'
import { delay } from '../send.ts'
import type { KeyRotation } from '../types.generated.ts'
import { type Command, textOf } from './command.ts'
import { clientFromEnvironment } from './credentials.ts'

const LOOK_EVERY = 1_000

export const rotateKey: Command = {
  words: [],
  about:
    'For operators: encrypt every secret of the installation with a new key. Shows the progress until the rotation is done, or only restarts are left.',
  options: {
    'new-key-file': {
      type: 'string',
      value: 'FILE',
      about: '32 bytes in base64; required if HEDDLE_SECRET_KEY is set',
    },
  },
  async run(_words, values, out) {
    const client = clientFromEnvironment({ workspace: textOf(values, 'workspace') })
    const file = textOf(values, 'new-key-file')
    let state = await client.getKeyRotation()
    if (!state.rotation)
      state = await client.rotateKey(file === undefined ? {} : { key: readFileSync(file, 'utf8').trim() })
    while (state.rotation && !waitsForRestarts(state)) {
      out.note(`${state.rotation.phase}: ${state.rotation.sealed} values under the new key ${state.rotation.to}`)
      await delay(LOOK_EVERY)
      state = await client.getKeyRotation()
    }
    out.show(state, summary(state))
  },
}

const outdated = ({ rotation, processes }: KeyRotation) =>
  processes.filter(({ configured, source }) => source === 'environment' && configured !== rotation?.to)

const waitsForRestarts = (state: KeyRotation): boolean =>
  state.rotation?.phase === 'restarting' && outdated(state).length > 0

function summary(state: KeyRotation): string {
  const { rotation, current } = state
  if (!rotation)
    return `Done. Every secret is encrypted with the key ${current}; the old key no longer decrypts anything.`
  return [
    `Every secret is encrypted with the key ${rotation.to}.`,
    `Restart these processes with the new HEDDLE_SECRET_KEY, one after the other (${outdated(state).length} left).`,
    `When all of them use it, the old key ${rotation.from} no longer decrypts anything.`,
  ].join('\n')
}
