import { expect, test } from 'vitest'
import { resetPassword } from '#server/reset-password'
import { freshEmail, PASSWORD, signUp } from '#test/harness/browser'
import { useService } from '#test/harness/service'

const service = useService()

const reset = (email: string): Promise<string[]> => resetPassword(service().database.urls.owner, email)
const signIn = async (email: string, password: string): Promise<number> =>
  (await service().call('POST', '/auth/sign-in', { body: { email, password } })).status

test('a reset gives the account a new password, ends the old password and all sessions, and is recorded', async () => {
  const email = freshEmail()
  const { browser, answer } = await signUp(service().base, { email })
  const other = await signUp(service().base, { email: freshEmail() })
  const [line] = await reset(` ${email.toUpperCase()} `)
  const password = line!.slice(`heddle new password for ${email}: `.length)
  expect(password).toMatch(/^[\w-]{24}$/)
  expect((await browser.call('GET', '/auth/me')).status).toBe(401)
  expect((await other.browser.call('GET', '/auth/me')).status).toBe(200)
  expect([await signIn(email, PASSWORD), await signIn(email, password)]).toEqual([401, 200])
  const entries = await service().sql(
    `select actor_kind, data from audit_log where action = 'password.reset' and subject = $1`,
    [answer.body.user.user_id],
  )
  expect(entries).toEqual([{ actor_kind: 'system', data: { ended: 1 } }])
})

test('an unknown address changes nothing', async () => {
  await expect(reset('nobody@example.com')).rejects.toThrow('there is no account nobody@example.com')
})
