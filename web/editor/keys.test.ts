import { expect, test } from 'vitest'
import { commandOf } from './keys.ts'

const press = (
  key: string,
  more: Partial<Record<'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey', boolean>> = {},
  typing = false,
) => commandOf({ key, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...more }, typing)?.do

test('keys work the same with Ctrl and Cmd, and most do nothing while the user types', () => {
  expect(press('z', { ctrlKey: true })).toBe('undo')
  expect(press('Z', { metaKey: true, shiftKey: true })).toBe('redo')
  expect(press('/')).toBe('quick-add')
  expect(press('?', { shiftKey: true })).toBe('help')
  expect(press('/', {}, true)).toBeUndefined()
  expect(press('z', { ctrlKey: true }, true)).toBeUndefined()
  expect(press('s', { ctrlKey: true }, true)).toBe('save')
  expect(press('Delete', { altKey: true })).toBeUndefined()
})
