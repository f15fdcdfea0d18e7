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
