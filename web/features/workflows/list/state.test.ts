import { describe, expect, test } from 'vitest'
import { filtersIn, hasFilters, startsInWords, stateOf, tagsIn } from './state.ts'

describe('filters of the list of workflows', () => {
  test('are read from an address, without other parameters', () => {
    expect(filtersIn({ scope: 'workspace', state: 'paused', tag: 'finance', owner_id: 'usr_1', run: 'yes' })).toEqual({
      scope: 'workspace',
      state: 'paused',
      tag: 'finance',
      owner_id: 'usr_1',
    })
    expect(filtersIn({ scope: 'all', state: 'gone', tag: '', owner_id: {} })).toEqual({})
    // The router parses a tag of digits as a number.
    expect(filtersIn({ tag: 2026 })).toEqual({ tag: '2026' })
    expect(filtersIn(undefined)).toEqual({})
  })

  test('do not include the scope of the list', () => {
    expect(hasFilters({ scope: 'workspace' })).toBe(false)
    expect(hasFilters({ tag: 'a' })).toBe(true)
  })
})

test('a workflow is live, paused or without a version', () => {
  expect(stateOf({ active_version_id: null, paused_at: '2026-01-01T00:00:00Z' })).toBe('draft')
  expect(stateOf({ active_version_id: 'wfv_1', paused_at: null })).toBe('live')
  expect(stateOf({ active_version_id: 'wfv_1', paused_at: '2026-01-01T00:00:00Z' })).toBe('paused')
})

test('the triggers of a workflow are described in words', () => {
  const activity = { last_run: null, next_run_at: null, starts: ['schedule' as const, 'embed' as const] }
  expect(startsInWords({ kind: 'user', activity })).toBe('Schedule, widget')
  expect(startsInWords({ kind: 'user', activity: { ...activity, starts: [] } })).toBe('By hand')
  expect(startsInWords({ kind: 'user', activity: null })).toBe('–')
})

test('tags are separated by commas, without duplicates', () => {
  expect(tagsIn(' finance, monthly ,, finance')).toEqual(['finance', 'monthly'])
  expect(tagsIn('')).toEqual([])
})
