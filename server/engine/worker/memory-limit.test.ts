import { describe, expect, test } from 'vitest'
import { emptyState, type GraphState } from '../interpreter/state.ts'
import { bytesToLoad, requireMemory } from './memory-limit.ts'

const MIB = 1024 * 1024

describe('room for values that an execution loads from the blob store', () => {
  test.each([
    ['nothing is needed', [['a', 500]], ['b', 0], true],
    ['nobody has any', [], ['a', 64], true],
    ['the workspace has some, and half of the room is enough for both', [['a', 32]], ['a', 64], true],
    ['the workspace would have more than half of the room', [['a', 64]], ['a', 33], false],
    [
      'others have the rest',
      [
        ['a', 96],
        ['b', 64],
      ],
      ['c', 33],
      false,
    ],
    [
      'others have all, and it needs little',
      [
        ['a', 96],
        ['b', 96],
      ],
      ['c', 8],
      true,
    ],
    [
      'others have all, and it has some already',
      [
        ['a', 96],
        ['b', 90],
        ['c', 8],
      ],
      ['c', 1],
      false,
    ],
    [
      'it fits',
      [
        ['a', 96],
        ['b', 64],
      ],
      ['c', 32],
      true,
    ],
  ] as [string, [string, number][], [string, number], boolean][])('%s', (_name, loaded, [workspaceId, mib], fits) => {
    const held = loaded.map(([of, bytes]) => ({ workspaceId: of, bytes: bytes * MIB }))
    const ask = () => requireMemory(held, { workspaceId, bytes: mib * MIB })
    if (fits) expect(ask).not.toThrow()
    else expect(ask).toThrow(expect.objectContaining({ code: 'overloaded' }))
  })

  test('counts a blob that several nodes passed on once, and values in memory not at all', () => {
    const blob = (key: string, bytes: number) => ({ key, sha256: key, bytes })
    const node = (more: object) => ({ status: 'succeeded' as const, attempt: 1, ready: 0, ...more })
    const state: GraphState = {
      ...emptyState(),
      nodes: {
        a: node({ blob: blob('k', 5) }),
        b: node({ blob: blob('k', 5) }),
        c: node({ blob: blob('l', 7) }),
        d: node({ blob: blob('m', 11), output: 'there' }),
        e: node({ output: 'small' }),
      },
    }
    expect(bytesToLoad(state)).toBe(12)
  })
})
