import type { Kind, KindTable } from '../kinds.ts'

const kind = (type: string, more: Partial<Kind> = {}): Kind => ({
  type,
  kind: 'tool',
  group: 'tools',
  title: type,
  description: '',
  icon: 'box',
  colour: '#64748b',
  keywords: [],
  args_schema: { type: 'object' },
  output_schema: {},
  ports: ['out'],
  effect: 'pure',
  defaults: {},
  available: true,
  unavailable_reason: null,
  ...more,
})

/** A few kinds, as a palette might describe them. */
export const kinds: KindTable = new Map(
  [
    kind('set', { title: 'Set values', defaults: { values: {} } }),
    kind('http.request', {
      title: 'HTTP request',
      keywords: ['api', 'rest'],
      defaults: { url: 'https://example.com/' },
    }),
    kind('branch', {
      title: 'Branch',
      ports: ['default'],
      defaults: { cases: [{ port: 'yes', when: { $cel: 'true' } }] },
    }),
    kind('approval', { title: 'Approval', ports: ['approved', 'rejected'] }),
    kind('map', { title: 'For each', defaults: { items: [], body: { nodes: [], edges: [] } } }),
    kind('mail.send', { title: 'Send mail', available: false, unavailable_reason: 'no mail server is set up' }),
  ].map((entry) => [entry.type, entry]),
)
