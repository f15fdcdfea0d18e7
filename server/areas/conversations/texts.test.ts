import { expect, test } from 'vitest'
import { askFor } from './texts.ts'

test.each([
  ['order_number', {}, 'What is the order number?'],
  ['name', { title: 'Your name' }, 'What is your name?'],
  ['reason', { title: 'What is wrong' }, 'What is wrong?'],
  ['guests', { title: 'How many people will come?' }, 'How many people will come?'],
  ['colour', { title: 'Colour', enum: ['red', 'green'] }, 'What is the colour? Choose red or green.'],
])('%s is asked for as a person would', (name, schema, asked) => {
  expect(askFor({ name, schema })).toBe(asked)
})
