import { expect, test } from 'vitest'
import { isForPerson } from './asks-for-person.ts'

test.each([
  'I want to talk to a human',
  'Can you please connect me with a real person?',
  'human please',
  'Ich möchte mit einem Menschen sprechen',
  'Kann ich bitte mit jemandem reden?',
  'Verbinden Sie mich mit einer Mitarbeiterin!',
  'mit einem Mitarbeiter',
  'Mensch, bitte',
  'Je voudrais parler à une personne',
  'Puis-je parler avec quelqu’un ?',
  'un conseiller, s’il vous plaît',
  'Quiero hablar con una persona',
  '¿Puedo hablar con alguien?',
  'Jeg vil snakke med et menneske',
  'kan jeg få snakke med noen?',
  'kunderådgiver takk',
])('%s: is a request for a person', (text) => {
  expect(isForPerson(text)).toBe(true)
})

test.each([
  'I do not want to talk to a human',
  'Do not transfer me to an agent',
  'A refund for the person who ordered it',
  'Ich will nicht mit einem Menschen sprechen',
  'Ein Tisch für eine Person am Fenster',
  'Ich komme mit einem Kollegen am Montag',
  'Je ne veux pas parler à un agent',
  'No quiero hablar con un agente',
  'Una mesa para una persona',
  'Jeg vil ikke snakke med en kollega',
  `I want to talk to a human ${'x'.repeat(200)}`,
])('%s: is not a request for a person', (text) => {
  expect(isForPerson(text)).toBe(false)
})
