import { expect, test } from 'vitest'
import { addNode, removeItems } from './document/commands.ts'
import { emptyDoc, TOP } from './document/document.ts'
import { kinds } from './document/testing.ts'
import { makeEditorStore } from './store.ts'

const make = (readOnly = false) => {
  let time = 0
  return makeEditorStore({
    doc: emptyDoc(),
    base: null,
    kinds: { groups: [], table: kinds },
    readOnly,
    clock: () => (time += 10_000),
  })
}

test('undo leaves a body that no longer exists, and clears the selection in it', () => {
  const store = make()
  store.change((doc) => addNode(doc, TOP, kinds.get('map')!, { x: 0, y: 0 }).doc)
  store.open(['map'])
  store.change((doc) => addNode(doc, ['map'], kinds.get('set')!, { x: 0, y: 0 }).doc)
  store.select(['set'])
  store.undo()
  expect(store.get()).toMatchObject({ path: ['map'], selection: { nodes: new Set() } })
  store.undo()
  expect(store.get().path).toEqual([])
  store.redo()
  store.redo()
  expect(store.graph().nodes).toHaveLength(1)
})

test('errors of the service are shown until the document changes', () => {
  const store = make()
  store.set({
    refused: [{ message: 'no', where: 'Workflow', level: 'error', place: { kind: 'workflow', path: [], field: '' } }],
  })
  store.change((doc) => removeItems(doc, TOP, new Set(), new Set()))
  expect(store.get().refused).toHaveLength(1)
  store.change((doc) => addNode(doc, TOP, kinds.get('set')!, { x: 0, y: 0 }).doc)
  expect(store.get().refused).toEqual([])
})

test('a viewer cannot change anything', () => {
  const store = make(true)
  store.change((doc) => addNode(doc, TOP, kinds.get('set')!, { x: 0, y: 0 }).doc)
  expect(store.doc().nodes).toEqual([])
})
