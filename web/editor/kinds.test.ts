import { expect, test } from 'vitest'
import type { Palette } from '#sdk/types.generated'
import { kinds } from './document/testing.ts'
import { readKinds } from './kinds.ts'

const policy = { approvers: [{ kind: 'role', id: 'owner' }], quorum: 'any' }
const palette = {
  groups: [{ title: 'People', nodes: [{ ...kinds.get('set')!, type: 'approval', defaults: { policy } }] }],
} as unknown as Palette

test('a single member of a workspace may open their own gates; with several members, the starter has no vote', () => {
  expect(readKinds(palette, true).table.get('approval')!.defaults).toEqual({ policy: { ...policy, allow_self: true } })
  expect(readKinds(palette, false).table.get('approval')!.defaults).toEqual({ policy })
})
