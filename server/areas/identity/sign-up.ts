import type { z } from 'zod'
import { recordAudit } from '#platform/audit'
import { verifyPassword } from '#platform/auth/passwords'
import type { Config } from '#platform/config'
import { problem } from '#platform/errors'
import { refuseForeignOrigin } from '#platform/http/caller'
import type { Context } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { callerAddress } from '#platform/http/throttle'
import { hashSecret, secretLooksValid, toWire } from '#platform/ids'
import * as accountStore from './account-store.ts'
import { forgive, noteAttempt } from './lockout.ts'
import type { SendMail } from './mail.ts'
import { type People, settlePerson } from './people.ts'
import type { ConfirmSignUp, SignedIn } from './schema.ts'
import { actingAs, startSession } from './sessions.ts'
import * as store from './store.ts'

const nobody = { workspaceId: null, userId: null }

export type AccountMail = { config: Config; people: People; sendMail: SendMail }

/**
 * Creates the account of a sign-up whose mail arrived. The password is required again: otherwise a person who opens a
 * link that another person caused would create an account whose password the other person knows.
 */
export async function confirmSignUp(
  { people }: AccountMail,
  ctx: Context,
  input: z.output<typeof ConfirmSignUp>,
  exchange: Exchange,
): Promise<SignedIn> {
  refuseForeignOrigin(exchange.request, ctx.baseUrl)
  const tokenHash = hashSecret(input.token)
  const pending = secretLooksValid('sgn', input.token)
    ? await ctx.db.tenant(nobody, (tx) => accountStore.findSignUp(tx, tokenHash))
    : undefined
  if (!pending || pending.org_id !== ctx.org.org_id) throw linkSpent()
  people.refuseSignUp(pending.email, undefined)
  const attempt = await ctx.db.tenant(nobody, (tx) =>
    noteAttempt(tx, ctx.org.org_id, pending.email, callerAddress(ctx.address)),
  )
  if (!(await verifyPassword(pending.password_hash, input.password))) throw problem('bad_credentials')
  const { answer, cookie } = await ctx.db.tenant(nobody, async (tx) => {
    await forgive(tx, attempt)
    if (!(await accountStore.useSignUp(tx, tokenHash))) throw linkSpent()
    const { user, workspaceId } = await settlePerson(ctx, tx, {
      email: pending.email,
      name: pending.name,
      passwordHash: pending.password_hash,
      workspaceName: pending.workspace_name ?? undefined,
      isVerified: true,
    })
    const person = people.personOf(ctx, user)
    const { session, cookie } = await startSession(ctx, tx, exchange, person, workspaceId)
    await recordAudit(actingAs(ctx, person, workspaceId), tx, {
      action: 'person.signed_up',
      subject: toWire('usr', user.user_id),
    })
    const workspace = await store.findOwnWorkspace(tx, workspaceId, user.user_id)
    return { answer: { user, workspace, session }, cookie }
  })
  ctx.header('set-cookie', cookie)
  return answer
}

/** Callers cannot tell whether a link was used, expired, belongs to another org or never existed. */
export const linkSpent = () =>
  problem('not_found', 'This link was used, has expired or never existed. Ask for a new one.')
