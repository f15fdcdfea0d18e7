import { expect, test } from 'vitest'
import { wasNotStarted } from './unstarted-effects.ts'

const said = { type: 'not_begun' as const, nodePath: 'each[2].mail', attempt: 2, epoch: 3 }
const inbox = [
  { n: 1, payload: { type: 'cancel' as const, by: null } },
  { n: 2, payload: said },
]
const node = { nodePath: 'each[2].mail', attempt: 2 }

test.each([
  ['the worker that takes over next', { epoch: 4, inbox }, node, true],
  ['the worker after that, because the effect may have been started since', { epoch: 5, inbox }, node, false],
  ['the worker that sent the message', { epoch: 3, inbox }, node, false],
  ['another attempt', { epoch: 4, inbox }, { ...node, attempt: 3 }, false],
  ['another node', { epoch: 4, inbox }, { ...node, nodePath: 'each[1].mail' }, false],
  ['no message', { epoch: 4, inbox: [] }, node, false],
])('only the next worker accepts the message that an effect was not started: %s', (_who, owned, asked, believed) => {
  expect(wasNotStarted(owned, asked)).toBe(believed)
})
