import { expect, test } from 'vitest'
import { mailWords } from '#platform/mail-language'
import { channelTextOf, settledText } from './channel-text.ts'

// Half of a surrogate pair becomes an escape in JSON, and vendors refuse the whole message because of it.

test('a message that is cut in the middle of a character contains no half character', () => {
  const long = `${'a'.repeat(299)}😀`
  const words = mailWords('en')
  const matter = {
    kind: 'approval',
    payload: `${'a'.repeat(1199)}😀`,
    sha256: 'f'.repeat(64),
  } as never
  const { text } = channelTextOf({
    title: long,
    body: long,
    workspace: `${'a'.repeat(99)}😀`,
    matter,
    mayPress: true,
    consoleUrl: 'https://heddle.example/approvals',
    words,
  })
  expect([text.isWellFormed(), settledText(long, long, words).isWellFormed()]).toEqual([true, true])
})

const asked = (matter: object, title: string) =>
  channelTextOf({
    title,
    body: null,
    workspace: 'Home',
    matter: { sha256: 'f'.repeat(64), payload: null, schema: null, ...matter } as never,
    mayPress: true,
    consoleUrl: 'https://heddle.example/runs/1',
    words: mailWords('en'),
  })

test.each([
  [200, true],
  [1200, true],
  [1201, false],
])('a question of %i characters is shown whole with its buttons, or has none: %s', (length, isWhole) => {
  const question = `${'a'.repeat(length - 1)}?`
  const { text, choices } = asked(
    { kind: 'clarification', title: question, schema: { type: 'boolean' } },
    `A question for you: ${question}`.slice(0, 300),
  )
  expect([text.includes(question), choices.length, text.length < 2000]).toEqual([isWhole, isWhole ? 2 : 0, true])
})

test.each([
  [300, 2],
  [301, 0],
])('a gate whose message has a title of %i characters has %i buttons', (length, count) => {
  const title = 'a'.repeat(length)
  expect(asked({ kind: 'approval', title }, title).choices).toHaveLength(count)
})
