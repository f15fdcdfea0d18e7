import { z } from 'zod'
import { defineList } from '#platform/http/list'
import { id, timestamp } from '#platform/http/schema'

export const Variable = z
  .object({
    name: z.string(),
    value: z.unknown().describe('Any JSON. Not secret: everyone in the workspace except guests may read it'),
    description: z.string().nullable(),
    created_by: id('usr').nullable().describe('May change it, besides the owners of the workspace'),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Variable' })
export type Variable = z.input<typeof Variable>

export const NewVariable = z
  .strictObject({
    value: z.unknown().refine((value) => value !== undefined, 'is required'),
    description: z.string().trim().max(500).nullish(),
  })
  .meta({ id: 'NewVariable' })
export type NewVariable = z.output<typeof NewVariable>

export const variableList = defineList({
  id: 'name',
  idIs: 'text',
  search: ['name', 'description'],
  sort: { name: 'id', created_at: 'time', updated_at: 'time' },
  order: 'name',
})
