import { randomBytes } from 'node:crypto'
import { deleteAllFactors } from '#areas/identity/factor-store'
import { deleteSessions, setPassword } from '#areas/identity/store'
import { recordAudit } from '#platform/audit'
import { normaliseEmail } from '#platform/auth/email'
import { hashPassword } from '#platform/auth/passwords'
import { StartRefused } from '#platform/db/refused'
import { toWire } from '#platform/ids'
import { asOwner } from '#server/seed'

// Only for operators of the machine: no one else can vouch for a person who lost a password.

/**
 * Gives the account a new password, ends its sessions and removes its second factors. API keys stay valid, as when a
 * person changes a password.
 */
export async function resetPassword(ownerUrl: string, address: string): Promise<string[]> {
  const email = normaliseEmail(address)
  const password = randomBytes(18).toString('base64url')
  const passwordHash = await hashPassword(password)
  await asOwner(ownerUrl, async (tx) => {
    const people = await tx.rows<{ user_id: string }>('select user_id from users where email = $1 for update', [email])
    if (people.length === 0) throw new StartRefused(`there is no account ${email}; no password was changed.`)
    for (const { user_id } of people) {
      await setPassword(tx, user_id, passwordHash)
      const ended = await deleteSessions(tx, user_id, null)
      await deleteAllFactors(tx, user_id)
      await recordAudit({ maybePerson: null, maybeWorkspace: null, address: 'localhost' }, tx, {
        action: 'password.reset',
        subject: toWire('usr', user_id),
        data: { ended },
      })
    }
  })
  return [`heddle new password for ${email}: ${password}`, 'It is shown only once. Change it after signing in.']
}
