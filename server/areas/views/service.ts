import type { Context } from '#platform/http/context'
import type { NewSavedViews, SavedViews } from './schema.ts'
import * as store from './store.ts'

/** Each person has their own views in each workspace. No other person can read them. */
export const getSavedViews = async ({ tx, workspace, person }: Context): Promise<SavedViews> =>
  (await store.findViews(tx, workspace.workspace_id, person.user_id)) ?? { views: [] }

export async function setSavedViews(ctx: Context, { views }: NewSavedViews): Promise<SavedViews> {
  await store.putViews(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, views)
  return getSavedViews(ctx)
}
