import { expect, test } from 'vitest'
import { withoutQuotations } from './quotations.ts'

const head = (...lines: string[]): string => [...lines, '', 'Shall I start it?'].join('\n')

test.each([
  ['On Thu, 19 Nov 2026 at 10:00, Desk <help@acme.example> wrote:\n\n> Shall I start it?'],
  ['On Monday somebody wrote:\n> Shall I start it?'],
  ['Am Do., 19. Nov. 2026 um 10:00 Uhr schrieb Desk <help@acme.example>:\n\n> Shall I start it?'],
  ['Am 19.11.2026 um 10:00 schrieb Desk über Acme <\nhelp@acme.example>:\n\n> Shall I start it?'],
  ['Le jeu. 19 nov. 2026 à 10:00, Desk <help@acme.example> a écrit\u00a0:\n\n> Shall I start it?'],
  ['El jue, 19 nov 2026 a las 10:00, Desk (<help@acme.example>) escribió:\n\n> Shall I start it?'],
  ['tor. 19. nov. 2026 kl. 10:00 skrev Desk <help@acme.example>:\n\n> Shall I start it?'],
  ['Den 19. nov. 2026 10:00 skrev Desk:\n\n> Shall I start it?'],
  [head('-----Original Message-----', 'From: Desk')],
  [head('-----Ursprüngliche Nachricht-----', 'Von: Desk')],
  [head("-----Message d'origine-----", 'De : Desk')],
  [head('-----Mensaje original-----', 'De: Desk')],
  [head('-----Opprinnelig melding-----', 'Fra: Desk')],
  [head('________________________________', 'From: Desk', 'Sent: Thursday', 'To: Ada', 'Subject: Tea')],
  [head('Von: Desk', 'Gesendet: Donnerstag', 'An: Ada', 'Betreff: Tee')],
  [head('*De :* Desk', '*Envoyé :* jeudi', '*À :* Ada', '*Objet :* Thé')],
  [head('De: Desk', 'Enviado: jueves', 'Para: Ada', 'Asunto: Té')],
  [head('Fra: Desk', 'Sendt: torsdag', 'Til: Ada', 'Emne: Te')],
  ['> Shall I start it?'],
  ['-- \nAda'],
])('the text above %j is read alone', (quoted) => {
  expect(withoutQuotations(`Ja\n\n${quoted}`).trim()).toBe('Ja')
  expect(withoutQuotations(`Ja\r\n${quoted.replaceAll('\n', '\r\n')}`).trim()).toBe('Ja')
})

test.each([
  'Am Montag schrieb ich Ihnen:\nWo ist mein Paket?',
  'From: Berlin\nDate: 2026-11-19\nTo: Paris',
  'Le 19, je pars.\nEl 20 también.\nDen 21 også:\nyes',
  'I wrote: nothing.\n\nOn it:\nyes',
])('%j is not a quotation', (text) => {
  expect(withoutQuotations(text)).toBe(text)
})
