import { z } from 'zod'

export const MAX_VIEWS = 50
const MAX_FILTERS = 20

const view = {
  list: z.enum(['runs', 'workflows']).describe('The list of the console that it narrows'),
  name: z.string().trim().min(1).max(60),
  filters: z
    .record(z.string().min(1).max(60), z.string().max(200))
    .refine((filters) => Object.keys(filters).length <= MAX_FILTERS, `must have at most ${MAX_FILTERS} fields`)
    .describe('By the names of the query of the list: `{"status": "failed,timed_out"}`'),
}

const isOnce = (views: readonly { list: string; name: string }[]): boolean =>
  new Set(views.map(({ list, name }) => `${list} ${name}`)).size === views.length

export const NewSavedViews = z
  .strictObject({
    views: z
      .array(z.strictObject(view))
      .max(MAX_VIEWS)
      .refine(isOnce, 'has two views of one list with the same name')
      .describe('In place of all that there are, in the order in which they are shown'),
  })
  .meta({ id: 'NewSavedViews' })
export type NewSavedViews = z.output<typeof NewSavedViews>

export const SavedViews = z
  .object({ views: z.array(z.object(view)).describe('In the order in which they are shown') })
  .meta({ id: 'SavedViews' })
export type SavedViews = z.input<typeof SavedViews>
