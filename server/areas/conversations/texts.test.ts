import { expect, test } from 'vitest'
import { phrasesIn } from './languages/index.ts'
import { askFor, menu } from './texts.ts'

test.each([
  ['order_number', {}, 'What is the order number?'],
  ['name', { title: 'Your name' }, 'What is your name?'],
  ['reason', { title: 'What is wrong' }, 'What is wrong?'],
  ['guests', { title: 'How many people will come?' }, 'How many people will come?'],
  ['colour', { title: 'Colour', enum: ['red', 'green'] }, 'What is the colour? Choose red or green.'],
])('%s is asked for in natural language', (name, schema, asked) => {
  expect(askFor(phrasesIn('en'), { name, schema })).toBe(asked)
})

test.each([
  ['de-AT', { title: 'Bestellnummer', type: 'integer' }, 'Bitte geben Sie an: Bestellnummer. Bitte eine Zahl.'],
  ['de', { title: 'Wie viele Personen kommen' }, 'Wie viele Personen kommen?'],
  ['fr-CA', { title: 'couleur', enum: ['rouge', 'vert'] }, 'Veuillez indiquer : couleur. Au choix : rouge ou vert.'],
  ['es-419', { title: '¿Cuándo llega?', format: 'date' }, '¿Cuándo llega? Una fecha, por favor, como 2026-01-31.'],
  ['nb-NO', { title: 'frokost', type: 'boolean' }, 'Oppgi: frokost. Ja eller nei?'],
  ['ja', { title: 'name' }, 'What is the name?'],
  ['', { title: 'name' }, 'What is the name?'],
])('a page in %j asks in its language', (tag, schema, asked) => {
  expect(askFor(phrasesIn(tag), { name: 'x', schema })).toBe(asked)
})

test('every phrase is translated', () => {
  const en = phrasesIn('en')
  for (const tag of ['de', 'fr', 'es', 'no'])
    for (const [name, phrase] of Object.entries(phrasesIn(tag)))
      if (typeof phrase === 'string') expect(phrase, `${name} in ${tag}`).not.toBe(en[name as keyof typeof en])
  expect(menu(phrasesIn('de'), [])).toBe('Im Moment kann ich nichts für Sie starten.')
})
