import { control, fields } from './kind.ts'

export const wait = control({
  type: 'wait',
  kind: 'capability',
  group: 'control',
  title: 'Wait',
  description: 'Pauses for a duration or until a point in time, up to one year.',
  icon: 'timer',
  colour: '#64748b',
  keywords: ['delay', 'sleep', 'pause', 'timer', 'until', 'schedule'],
  args_schema: fields(
    {
      for_s: { type: 'number', title: 'For (seconds)', minimum: 0, maximum: 31_536_000 },
      until: {
        type: 'string',
        format: 'date-time',
        title: 'Until',
        description: 'RFC 3339, such as 2026-12-24T18:00:00Z',
      },
    },
    [],
    { oneOf: [{ required: ['for_s'] }, { required: ['until'] }] },
  ),
  output_schema: { type: 'object', properties: { waited_s: { type: 'number' } } },
  ports: ['out'],
  effect: 'pure',
  defaults: { for_s: 60 },
})
