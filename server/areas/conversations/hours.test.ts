import { describe, expect, test } from 'vitest'
import { closedText, type Hours, standingAt } from './hours.ts'
import { phrasesIn } from './languages/index.ts'

const weekdays = [
  { from: '13:00', to: '17:00' },
  { from: '09:00', to: '12:00' },
]
const hours: Hours = {
  time_zone: 'Europe/Berlin',
  days: { mon: weekdays, tue: weekdays, fri: [{ from: '22:00', to: '24:00' }], sun: [{ from: '02:30', to: '04:00' }] },
  closed_on: ['2026-11-24'],
}
const english = phrasesIn(undefined)
const at = (text: string) => standingAt(hours, new Date(text))

describe('opening hours', () => {
  test.each([
    ['within an opening period', '2026-11-17T10:00:00Z', true, null],
    ['at the start of a period', '2026-11-17T08:00:00Z', true, null],
    ['at the end of a period', '2026-11-17T11:00:00Z', false, '2026-11-17T12:00:00Z'],
    ['before the first period of the day', '2026-11-17T07:59:00Z', false, '2026-11-17T08:00:00Z'],
    ['after the last period of the week', '2026-11-17T16:00:00Z', false, '2026-11-20T21:00:00Z'],
    ['up to midnight', '2026-11-20T22:59:00Z', true, null],
    ['before a closed day', '2026-11-23T16:00:00Z', false, '2026-11-27T21:00:00Z'],
    ['during daylight saving time', '2026-07-13T15:00:00Z', false, '2026-07-14T07:00:00Z'],
    ['across a clock change', '2026-10-24T10:00:00Z', false, '2026-10-25T01:30:00Z'],
  ])('give the state and the next opening: %s', (_what, now, open, opens) => {
    expect(at(now)).toEqual({ open, opens_at: opens === null ? null : new Date(opens) })
  })

  test('without any day are described without a time', () => {
    expect(closedText({ time_zone: 'UTC', days: {} }, new Date(), { say: english })).toBe(
      'Nobody is there at the moment.',
    )
    expect(closedText(null, new Date(), { say: english })).toBeNull()
  })

  test('are shown in the time zone of the person if it is known', () => {
    const now = new Date('2026-11-16T17:00:00Z')
    expect(closedText(hours, now, { say: english })).toContain('Tuesday 17 November at 09:00 (Europe/Berlin)')
    expect(closedText(hours, now, { say: english, timeZone: 'America/New_York' })).toContain(
      'Tuesday 17 November at 03:00 (America/New_York)',
    )
  })

  test.each([
    [
      'de-CH',
      'Im Moment ist niemand da. Sie bekommen eine Antwort ab Dienstag, 17. November um 09:00 (Europe/Berlin).',
    ],
    ['fr', 'Il n’y a personne pour le moment. L’équipe répond à partir de mardi 17 novembre à 09:00 (Europe/Berlin).'],
    [
      'es-MX',
      'Ahora mismo no hay nadie. El equipo responde a partir del martes, 17 de noviembre, 09:00 (Europe/Berlin).',
    ],
    ['nn-NO', 'Det er ingen her akkurat nå. De svarer fra tirsdag 17. november kl. 09:00 (Europe/Berlin).'],
    ['ja', 'Nobody is there at the moment. They answer from Tuesday 17 November at 09:00 (Europe/Berlin).'],
  ])('are shown in the language of the page: %s', (locale, text) => {
    const now = new Date('2026-11-16T17:00:00Z')
    expect(closedText(hours, now, { say: phrasesIn(locale) })).toBe(text)
  })
})
