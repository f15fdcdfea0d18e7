import { problem } from '../errors.ts'
import type { Context } from '../http/context.ts'
import { type Access, kindText, type Least, parameterOf, type ResourceKind, reaches, type Standing } from './words.ts'

/** Returns the caller's standing in a resource of an area, or undefined if the caller may not see the resource. */
export type StandingIn = (ctx: Context, id: string) => Promise<Standing | undefined>
export type Standings = Partial<Record<ResourceKind, StandingIn>>

/** Refuses callers whom the access word of the route does not let in, in the order 401, 404, 403. */
export async function checkAccess(
  ctx: Context,
  access: Access,
  params: Record<string, string>,
  standings: Standings,
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
      const standing = await standingOf(ctx, access.of, params, standings)
      if (standing === undefined) throw problem('not_found')
      if (access.or === 'oneself' && params.user_id === ctx.person.user_id) return
      if (!reaches(standing, access.least)) throw tooLittle(access.of, access.least, standing)
      if (access.and === 'operator') requireOperator(ctx)
      return
    }
  }
}

/** Checks the caller's standing in one of several resources that the request body names. */
export async function requireStanding(
  ctx: Context,
  of: ResourceKind,
  find: StandingIn,
  id: string,
  least: Least,
): Promise<void> {
  const standing = await find(ctx, id)
  if (standing === undefined) throw problem('not_found')
  if (!reaches(standing, least)) throw tooLittle(of, least, standing)
}

const tooLittle = (of: ResourceKind, least: Least, standing: Standing) =>
  problem('forbidden', `This needs the role ${least} in the ${kindText(of)}; ${standingText(of, standing)}.`)

const standingText = (of: ResourceKind, standing: Standing): string =>
  standing !== 'visible'
    ? `yours is ${standing}`
    : of === 'workspace'
      ? 'you are a guest here'
      : 'it has not been shared with you'

function requirePerson(ctx: Context): void {
  if (ctx.maybePerson === null) throw problem('unauthenticated', 'Sign in, or send a valid API key.')
}

function requireOperator(ctx: Context): void {
  if (!ctx.person.operator) throw problem('forbidden', 'Only an operator of this installation may do this.')
}

async function standingOf(
  ctx: Context,
  of: ResourceKind,
  params: Record<string, string>,
  standings: Standings,
): Promise<Standing | undefined> {
  const id = params[parameterOf[of]]
  if (of === 'workspace' && id === undefined) {
    return ctx.workspace.role === 'guest' ? 'visible' : ctx.workspace.role
  }
  const find = standings[of]
  if (!find || id === undefined) throw new Error(`no standing is registered for ${of}`)
  return find(ctx, id)
}
