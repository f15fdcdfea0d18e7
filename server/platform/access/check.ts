import { problem } from '../errors.ts'
import type { Context } from '../http/context.ts'
import {
  type Access,
  type AccessLevel,
  isAtLeast,
  kindText,
  type MinimumLevel,
  parameterOf,
  type ResourceKind,
} from './rules.ts'

/** Returns the caller's level in a resource of an area, or undefined if the caller may not see the resource. */
export type FindAccessLevel = (ctx: Context, id: string) => Promise<AccessLevel | undefined>
export type AccessLevelFinders = Partial<Record<ResourceKind, FindAccessLevel>>

/** Refuses callers whom the access rule of the route does not let in, in the order 401, 404, 403. */
export async function checkAccess(
  ctx: Context,
  access: Access,
  params: Record<string, string>,
  accessLevels: AccessLevelFinders,
): Promise<void> {
  switch (access.word) {
    case 'anyone':
    case 'token':
      return
    case 'signedIn':
      requirePerson(ctx)
      return
    case 'operator':
      requirePerson(ctx)
      requireOperator(ctx)
      return
    case 'role': {
      requirePerson(ctx)
      if (access.or === 'operator' && ctx.person.operator) return
      const level = await accessLevelOf(ctx, access.of, params, accessLevels)
      if (level === undefined) throw problem('not_found')
      if (access.or === 'oneself' && params.user_id === ctx.person.user_id) return
      if (!isAtLeast(level, access.least)) throw levelTooLow(access.of, access.least, level)
      if (access.and === 'operator') requireOperator(ctx)
      return
    }
  }
}

/** Checks the caller's level in one of several resources that the request body names. */
export async function requireAccessLevel(
  ctx: Context,
  of: ResourceKind,
  find: FindAccessLevel,
  id: string,
  least: MinimumLevel,
): Promise<void> {
  const level = await find(ctx, id)
  if (level === undefined) throw problem('not_found')
  if (!isAtLeast(level, least)) throw levelTooLow(of, least, level)
}

const levelTooLow = (of: ResourceKind, least: MinimumLevel, level: AccessLevel) =>
  problem('forbidden', `This needs the role ${least} in the ${kindText(of)}; ${levelText(of, level)}.`)

const levelText = (of: ResourceKind, level: AccessLevel): string =>
  level !== 'visible'
    ? `yours is ${level}`
    : of === 'workspace'
      ? 'you are a guest here'
      : 'it has not been shared with you'

function requirePerson(ctx: Context): void {
  if (ctx.maybePerson === null) throw problem('unauthenticated', 'Sign in, or send a valid API key.')
}

function requireOperator(ctx: Context): void {
  if (!ctx.person.operator) throw problem('forbidden', 'Only an operator of this installation may do this.')
}

async function accessLevelOf(
  ctx: Context,
  of: ResourceKind,
  params: Record<string, string>,
  accessLevels: AccessLevelFinders,
): Promise<AccessLevel | undefined> {
  const id = params[parameterOf[of]]
  if (of === 'workspace' && id === undefined) {
    return ctx.workspace.role === 'guest' ? 'visible' : ctx.workspace.role
  }
  const find = accessLevels[of]
  if (!find || id === undefined) throw new Error(`no level is registered for ${of}`)
  return find(ctx, id)
}
