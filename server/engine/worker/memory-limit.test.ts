import { describe, expect, test } from 'vitest'
import { emptyState, type GraphState } from '../interpreter/state.ts'
import { bytesToLoad, requireMemory } from './memory-limit.ts'

const MIB = 1024 * 1024

describe('room for values that an execution loads from the blob store', () => {
  test.each([
    ['fits: no values are needed', [['a', 500]], ['b', 0], true],
    ['fits: no workspace has loaded values', [], ['a', 64], true],
    ['fits: the workspace stays within half of the room', [['a', 32]], ['a', 64], true],
    ['does not fit: the workspace would have more than half of the room', [['a', 64]], ['a', 33], false],
    [
      'does not fit: other workspaces have too much of the room',
      [
        ['a', 96],
        ['b', 64],
      ],
      ['c', 33],
      false,
    ],
    [
      'fits: other workspaces have all the room, but little is needed',
      [
        ['a', 96],
        ['b', 96],
      ],
      ['c', 8],
      true,
    ],
    [
      'does not fit: other workspaces have all the room, and the workspace has already loaded values',
      [
        ['a', 96],
        ['b', 90],
        ['c', 8],
      ],
      ['c', 1],
      false,
    ],
    [
      'fits: there is exactly enough room',
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
