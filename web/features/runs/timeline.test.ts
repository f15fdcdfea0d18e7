import { expect, test } from 'vitest'
import { holdsWords } from './timeline.tsx'

const node = {
  node_id: 'send',
  status: 'failed' as const,
  attempt: 1,
  started_at: null,
  finished_at: null,
  output: { to: 'ada@example.com' },
  error: { code: 'http_status', message: 'The service answered 503' },
}

test.each([
  ['', true],
  ['mail', true],
  ['FAILED 503', true],
  ['ada@', true],
  ['http_status mail', true],
  ['mail 404', false],
])('“%s” finds a step: %s', (text, found) => {
  expect(holdsWords(node, 'Send the mail', text)).toBe(found)
})
