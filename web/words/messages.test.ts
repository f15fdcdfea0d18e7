import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { composedTexts, noticeTexts, phraseTexts } from '#model/notice-texts'
import { makeConsoleTranslator } from './messages.ts'
import { checkTexts, expressionTexts, problemTexts, runTexts, stepTexts } from './service-texts.ts'

const put = (text: string, values: readonly unknown[] = []): string =>
  text.replaceAll(/\{(\d)\}/g, (_, at: string) => String(values[Number(at)]))
const english = makeConsoleTranslator(put, 'en')
const de = JSON.parse(readFileSync(join(import.meta.dirname, 'de.json'), 'utf8')) as Record<string, string>
const german = makeConsoleTranslator((text, values) => put(de[text] ?? text, values), 'de')

describe('a message of the service', () => {
  test('uses the word run, not execution', () => {
    expect(english('The execution has already ended.')).toBe('The run has already ended.')
    expect(english('an execution has at most 50 open gates, questions and awaited events')).toMatch(
      /^a run has at most 50/,
    )
    expect(english('must be a list')).toBe('must be a list')
  })

  test('is German in the German console, with its values, its position and its suggestion', () => {
    expect(german('there is no node "sett"; did you mean "set"?')).toBe(
      'es gibt keinen Node "sett"; meinten Sie "set"?',
    )
    expect(german('unknown name "inptu" (at character 4)')).toBe('unbekannter Name "inptu" (an Stelle 4)')
    expect(german('must be at least 3')).toBe('muss mindestens 3 sein')
    expect(german('the target answered 503')).toBe('das Ziel hat mit 503 geantwortet')
    expect(german('line 2: "fetch" is not defined; code has no network, files, timers or packages')).toMatch(
      /^Zeile 2: "fetch" ist nicht definiert/,
    )
    expect(german('Your vote is needed: Pay it?')).toBe('Ihre Stimme wird gebraucht: Pay it?')
    expect(german('A question for you: is required')).toBe('Eine Frage an Sie: is required')
    expect(german('Expected ")" before end of expression')).toBe('vor dem Ende des Ausdrucks wird ")" erwartet')
  })

  test.each([
    ['Still waiting for your vote: Pay it?', 'Ihre Stimme fehlt noch: Pay it?'],
    ['Ada changed your role from member to owner.', 'Ada hat Ihre Rolle von Mitglied in Besitzer geändert.'],
    ['The offer of the workflow "Pay" was declined', 'Das Angebot des Workflows "Pay" wurde abgelehnt'],
    ['The subscription to Team is on trial', 'Das Abonnement von Team ist in der Probezeit'],
    ['The subscription to Team is past due', 'Das Abonnement von Team ist überfällig'],
    ['80 % of the budget of the workflow "Pay" is spent', /Budgets aufgebraucht: der Workflow "Pay"$/],
    ['$16.00 of $20.00 this month.', '16,00\u00a0$ von 20,00\u00a0$ pro Monat.'],
    [
      '$20.00 of $20.00 this day. No model is called until the next period starts or the budget is raised.',
      /^20,00\u00a0\$ von 20,00\u00a0\$ pro Tag\. Bis der nächste Zeitraum beginnt/,
    ],
    [
      'The budget of the workspace is $1234.50 a month, and $0.004 are spent. No model is called until the next period starts or the budget is raised.',
      /^Das Budget \(der Arbeitsbereich\) ist 1\.234,50\u00a0\$ pro Monat, und 0,004\u00a0\$ sind ausgegeben\./,
    ],
    ['Amount: €1,234.50', 'Betrag: 1.234,50\u00a0€'],
    [
      'CHF\u00a020.00 could not be charged. Add another card, or make another one the default.',
      /^20,00\u00a0CHF konnten/,
    ],
    ['Your vote is needed: $5.00', 'Ihre Stimme wird gebraucht: $5.00'],
    [
      '"Pay": 40 % of 10 runs failed within 15 min. The limit is 20 %.',
      '"Pay": 40 % von 10 Läufen sind innerhalb von 15 min fehlgeschlagen. Die Grenze ist 20 %.',
    ],
    ['The workspace: No run was started for 2 h. The limit is 60 min.', /^Der Arbeitsbereich: Seit 2 h wurde kein/],
    ['Your vote is needed: member', 'Ihre Stimme wird gebraucht: member'],
    ['Withdrawn: the execution no longer waits for it', 'Zurückgezogen: Der Lauf wartet nicht mehr darauf'],
    ['Approved by Ada, Max and 2 others', 'Zugestimmt von Ada, Max und 2 weiteren'],
    [
      'Somebody else must approve this: you retried the execution and also started the execution.',
      'Jemand anderes muss hier zustimmen. Was Sie ausschließt: Wiederholung des Laufs und Start des Laufs.',
    ],
  ])('of a notice is completely German: %s', (text, expected) => {
    expect(german(text)).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected))
  })

  test('is unchanged if it is not a known message', () => {
    expect(german('GitLab answered 500: down')).toBe('GitLab answered 500: down')
    expect(english('The execution of Charles I')).toBe('The execution of Charles I')
    expect(german(`there is no node "${'x'.repeat(1_000)}"`)).toMatch(/^there is no node/)
  })

  test('is in the sources: a text that changed there must change here', () => {
    const root = join(import.meta.dirname, '../..')
    const sources = globSync('{server,model}/**/*.ts', { cwd: root })
      .filter((file) => !file.endsWith('.test.ts') && file !== 'model/notice-texts.ts')
      .map((file) => readFileSync(join(root, file), 'utf8'))
      .join('\n')
    const all = [
      problemTexts,
      runTexts,
      stepTexts,
      checkTexts,
      expressionTexts,
      noticeTexts,
      composedTexts,
      phraseTexts,
    ].flat()
    const missing = all.filter((text) =>
      text
        .split(/\{\d\}|; /)
        .map((part) => part.replaceAll(/^[\s"]+|[\s"s.]+$/g, ''))
        .some((part) => part.length > 2 && !sources.includes(part)),
    )
    expect(missing).toEqual([])
  })
})
