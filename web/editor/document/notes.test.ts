import { expect, test } from 'vitest'
import { type Doc, emptyDoc, readDoc } from './document.ts'
import { addGroup, addNote, changeNote, insideOf, notesIn, removeNote } from './notes.ts'

test('a note is added, edited, moved and removed, and belongs to its graph', () => {
  const one = addNote(emptyDoc(), [], { x: 10.4, y: 20 })
  const two = addNote(one.doc, ['each'], { x: 0, y: 0 })
  expect(notesIn(two.doc, [])).toMatchObject([{ id: 'note', x: 10, y: 20, text: '' }])
  expect(notesIn(two.doc, ['each'])).toMatchObject([{ id: 'note_2' }])
  const written = changeNote(two.doc, 'note', { text: 'Ask Ada', x: 5 })
  expect(notesIn(written, [])).toMatchObject([{ text: 'Ask Ada', x: 5, y: 20 }])
  expect(notesIn(removeNote(written, 'note'), [])).toEqual([])
  expect(removeNote(removeNote(written, 'note'), 'note_2').layout).toEqual({ positions: {} })
})

test('invalid notes are left out, and a long text is cut', () => {
  const doc = readDoc({ nodes: [], edges: [], layout: { notes: [1, { id: 'a' }, { id: 'b', text: 'x', width: 3 }] } })
  expect(notesIn(doc, [])).toEqual([{ id: 'b', path: [], x: 0, y: 0, width: 80, height: 120, text: 'x' }])
  const long = changeNote(doc as Doc, 'b', { text: 'y'.repeat(5_000) })
  expect(notesIn(long, [])[0]!.text).toHaveLength(4_000)
})

test('a group encloses its nodes, and contains the nodes inside its frame', () => {
  const boxes = [
    { id: 'a', x: 100, y: 100, width: 224, height: 56 },
    { id: 'b', x: 400, y: 200, width: 224, height: 56 },
  ]
  expect(addGroup(emptyDoc(), [], [])).toBeNull()
  const { doc } = addGroup(emptyDoc(), [], boxes)!
  const [group] = notesIn(readDoc(JSON.parse(JSON.stringify({ nodes: [], edges: [], layout: doc.layout }))), [])
  expect(group).toMatchObject({ id: 'group', group: true, x: 72, y: 38, width: 580, height: 246 })
  const beside = { id: 'c', x: 600, y: 100, width: 224, height: 56 }
  expect(insideOf(group!, [...boxes, beside]).map(({ id }) => id)).toEqual(['a', 'b'])
})
