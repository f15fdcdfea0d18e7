import type { z } from 'zod'
import { openWorkspace } from '#areas/workspaces/service'
import { recordAudit } from '#platform/audit'
import { refuseWeakPassword } from '#platform/auth/common-passwords'
import { operatorAddresses } from '#platform/auth/email'
import { hashPassword, verifyPassword } from '#platform/auth/passwords'
import { enterScope, requireUnbound } from '#platform/auth/scope'
import type { Config } from '#platform/config'
import { isUniqueViolation, type Tx } from '#platform/db/pool'
import { invalid, problem } from '#platform/errors'
import { refuseForeignOrigin } from '#platform/http/caller'
import { type Context, type Person, scopeOf } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { callerAddress } from '#platform/http/throttle'
import { hashSecret, newId, secretLooksValid, toWire } from '#platform/ids'
import { bindVerbs } from '#platform/verbs'
import { beginSignUp } from './begin-sign-up.ts'
import { forgive, noteAttempt, TRIES } from './lockout.ts'
import { type SendMail, sendsMail } from './mail.ts'
import type { CheckMail, NewPassword, SignedIn, SignedInOrSecondFactor, SignIn, SignUp, User } from './schema.ts'
import { beginSecondFactor } from './second-factor.ts'
import { actingAs, enterAs, startSession } from './sessions.ts'
import * as store from './store.ts'

const nobody = { workspaceId: null, userId: null }

export type NewPerson = {
  email: string
  name: string
  passwordHash: string | null
  /** Whether the address is already verified. */
  isVerified?: boolean
}

/** Creates the account and leaves the transaction in its scope. The address must be free in the org. */
export async function insertPerson(ctx: Context, tx: Tx, person: NewPerson): Promise<User> {
  const user_id = newId()
  await enterScope(tx, { workspaceId: null, userId: user_id })
  try {
    return await store.insertUser(tx, {
      user_id,
      org_id: ctx.org.org_id,
      email: person.email,
      name: person.name,
      password_hash: person.passwordHash,
      is_verified: person.isVerified ?? false,
    })
  } catch (error) {
    if (isUniqueViolation(error))
      throw problem('already_exists', 'There is an account with this address: sign in with it.')
    throw error
  }
}

/** Creates the account with its own company and workspace. */
export async function settlePerson(
  ctx: Context,
  tx: Tx,
  person: NewPerson & { workspaceName?: string | undefined },
): Promise<{ user: User; workspaceId: string }> {
  const user = await insertPerson(ctx, tx, person)
  const workspaceId = await openWorkspace(tx, {
    orgId: ctx.org.org_id,
    userId: user.user_id,
    name: person.workspaceName ?? `${person.name}'s workspace`.slice(0, 200),
  })
  return { user, workspaceId }
}

type Options = { config: Config; sendMail: SendMail }

/** `reserved`: the addresses that only operators may use. */
type Deps = Options & { reserved: ReadonlySet<string> }

export const personOf = ({ reserved }: Deps, ctx: Context, user: Pick<User, 'user_id' | 'email' | 'name'>): Person => ({
  user_id: user.user_id,
  org_id: ctx.org.org_id,
  email: user.email,
  name: user.name,
  operator: reserved.has(user.email),
})

/** Refuses a closed sign-up before any lookup, unless the caller presents the claim of a reserved address. */
export const refuseSignUp = ({ config, reserved }: Deps, email: string, claim: string | undefined): void => {
  if (config.HEDDLE_SIGN_UP === 'invite' && (claim === undefined || !reserved.has(email)))
    throw problem('sign_up_closed')
  if (reserved.has(email) && (claim === undefined || !secretLooksValid('claim', claim))) throw needsClaim()
}

/** If sign-up is closed, refuses before the input is validated, unless the request contains a claim. */
export async function maySignUp(
  { config }: Deps,
  _ctx: Context,
  _input: unknown,
  { request }: Exchange,
): Promise<void> {
  if (config.HEDDLE_SIGN_UP === 'invite' && !request.rawBody.includes('"claim_token"')) throw problem('sign_up_closed')
}

export async function signUp(
  deps: Deps,
  ctx: Context,
  input: z.output<typeof SignUp>,
  exchange: Exchange,
): Promise<SignedIn | CheckMail> {
  refuseForeignOrigin(exchange.request, ctx.baseUrl)
  refuseSignUp(deps, input.email, input.claim_token)
  refuseWeakPassword('/password', input.password, input)
  const passwordHash = await hashPassword(input.password)
  // The claim of an operator replaces the confirmation by mail.
  if (sendsMail(deps.config) && !deps.reserved.has(input.email))
    return beginSignUp(ctx, deps.sendMail, input, passwordHash)
  const { answer, cookie } = await ctx.db.tenant(nobody, async (tx) => {
    if (
      deps.reserved.has(input.email) &&
      !(await store.spendOperatorClaim(tx, input.email, hashSecret(input.claim_token!)))
    )
      throw needsClaim()
    const { user, workspaceId } = await settlePerson(ctx, tx, {
      email: input.email,
      name: input.name,
      passwordHash,
      workspaceName: input.workspace_name,
      isVerified: deps.reserved.has(input.email),
    })
    const person = personOf(deps, ctx, user)
    const { session, cookie } = await startSession(ctx, tx, exchange, person, workspaceId)
    await recordAudit(actingAs(ctx, person, workspaceId), tx, {
      action: person.operator ? 'operator.claimed' : 'person.signed_up',
      subject: toWire('usr', user.user_id),
    })
    const workspace = await store.findOwnWorkspace(tx, workspaceId, user.user_id)
    return { answer: { user, workspace, session }, cookie }
  })
  ctx.header('set-cookie', cookie)
  return answer
}

export async function signIn(
  deps: Deps,
  ctx: Context,
  input: z.output<typeof SignIn>,
  exchange: Exchange,
): Promise<SignedInOrSecondFactor> {
  refuseForeignOrigin(exchange.request, ctx.baseUrl)
  const { attempt, known } = await ctx.db.tenant(nobody, async (tx) => {
    const attempt = await noteAttempt(tx, ctx.org.org_id, input.email, callerAddress(ctx.address))
    return { attempt, known: await store.credentialsOf(tx, ctx.org.org_id, input.email) }
  })
  if (!(await verifyPassword(known?.password_hash ?? null, input.password))) {
    await noteFailedSignIn(ctx, input.email, attempt.failures === TRIES)
    throw problem('bad_credentials')
  }
  const person = personOf(deps, ctx, { user_id: known!.user_id, email: input.email, name: known!.name })
  const { answer, cookie } = await ctx.db.tenant(nobody, async (tx) => {
    // The attempt is not forgiven before the second step. Otherwise a known password would allow unlimited guesses of
    // the code.
    const second = await beginSecondFactor(ctx, tx, person.user_id)
    if (second) return { answer: second, cookie: null }
    await forgive(tx, attempt)
    return enterAs(ctx, tx, exchange, person, 'session.started')
  })
  if (cookie !== null) ctx.header('set-cookie', cookie)
  return answer
}

export async function getMe(ctx: Context) {
  const [user, workspaces] = await Promise.all([
    store.findUser(ctx.tx, ctx.person.user_id),
    store.listOwnWorkspaces(ctx.tx, ctx.person.user_id),
  ])
  return {
    user,
    workspaces,
    selected_workspace_id: ctx.maybeWorkspace?.workspace_id ?? null,
    operator: ctx.person.operator,
  }
}

/**
 * Ends every other session, so that people who knew the old password are signed out. API keys stay; they are listed and
 * deleted separately.
 */
export async function changePassword(ctx: Context, input: z.output<typeof NewPassword>): Promise<void> {
  requireUnbound(ctx)
  const { attempt, known } = await ctx.db.tenant(nobody, async (tx) => ({
    attempt: await noteAttempt(tx, ctx.org.org_id, ctx.person.email, callerAddress(ctx.address)),
    known: await store.credentialsOf(tx, ctx.org.org_id, ctx.person.email),
  }))
  if (!(await verifyPassword(known?.password_hash ?? null, input.current_password)))
    throw invalid([{ path: '/current_password', message: 'is not your password' }])
  refuseWeakPassword('/new_password', input.new_password, ctx.person)
  const passwordHash = await hashPassword(input.new_password)
  await ctx.db.tenant(scopeOf(ctx), async (tx) => {
    await forgive(tx, attempt)
    await store.setPassword(tx, ctx.person.user_id, passwordHash)
    await store.deleteSessions(tx, ctx.person.user_id, ctx.credential.kind === 'session' ? ctx.credential.id : null)
    await recordAudit(ctx, tx, { action: 'password.changed', workspaceId: null })
  })
}

const verbsOfPeople = {
  personOf,
  refuseSignUp,
  maySignUp,
  signUp,
  signIn,
}

export function makePeople(dependencies: Options) {
  const reserved = operatorAddresses(dependencies.config.HEDDLE_OPERATORS)
  return {
    ...bindVerbs<Deps, typeof verbsOfPeople>({ ...dependencies, reserved }, verbsOfPeople),
    reserved,
    getMe,
    changePassword,
  }
}

/**
 * Records the same for existing and unknown accounts. Only operators can read the entry, because it belongs to no
 * workspace.
 */
const noteFailedSignIn = (ctx: Context, email: string, isLocked: boolean): Promise<void> =>
  ctx.db.tenant(nobody, async (tx) => {
    const entry = { subject: email, workspaceId: null }
    await recordAudit(ctx, tx, { ...entry, action: 'sign_in.failed', data: { reason: 'password' } })
    if (isLocked) await recordAudit(ctx, tx, { ...entry, action: 'sign_in.locked' })
  })

const needsClaim = () => problem('address_reserved', 'Send the claim_token that was printed when the service started.')

export type People = ReturnType<typeof makePeople>
