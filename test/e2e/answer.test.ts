import { describe, expect, it } from 'vitest'
import { checkPage } from '#test/harness/axe'
import { noBrowser, useSite } from '#test/harness/site'
import { until } from '#test/harness/until'

// The page behind the link of a mail, in a browser without a session. Without a mail server, mails stay in the outbox.

describe.skipIf(noBrowser)('the link of a mail', () => {
  const site = useSite()
  const definition = (approver: string) => ({
    nodes: [
      {
        id: 'gate',
        type: 'approval',
        args: {
          title: 'Pay the invoice?',
          payload: { amount: 120, supplier: 'Acme' },
          policy: { approvers: [{ kind: 'user', id: approver }], quorum: 'any', allow_self: true },
        },
      },
    ],
    edges: [],
  })

  it('shows the decision to make, asks for a code, and accepts the vote', async () => {
    const ada = await site().signUp('Ada')
    const { user } = await site().call(ada, 'GET', '/auth/me')
    await ada.page.goto('/account/notifications')
    await ada.page.getByRole('checkbox', { name: 'Your vote is needed: Mail' }).check()
    await ada.page.getByLabel('Language of mails').selectOption('Deutsch')
    await ada.page.getByRole('button', { name: 'Save' }).click()
    await ada.page.getByText('Saved').first().waitFor()
    expect(await checkPage(ada.page, ['light'])).toEqual([])

    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Pays',
      definition: definition(user.user_id),
    })
    const { execution_id } = await site().call(ada, 'POST', `/api/workflows/${workflow_id}/run`, {})
    const mail = (subject: string, count = 1) =>
      until(async () => {
        const rows = await site().service.sql<{ subject: string; body_text: string }>(
          'select subject, body_text from mail_outbox where $1 = any (recipient) and subject like $2 order by mail_id',
          [user.email, subject],
        )
        return rows[count - 1]
      }, subject)
    const { body_text } = await mail('Ihre Stimme wird gebraucht%')
    const [, path] = /(\/answer\/[\w-]+)/.exec(body_text)!

    const { page } = await site().visit()
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(path!)
    await page.getByRole('heading', { name: 'Pay the invoice?' }).waitFor()
    await page.getByText('Acme').waitFor()
    expect(await checkPage(page, ['light'])).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('textbox', { name: 'Code' }).waitFor()
    await mail('%ist Ihr Code')
    await page.getByRole('button', { name: 'Send a new code' }).click()
    await page.getByText('A new code is on its way').first().waitFor()
    const { subject } = await mail('%ist Ihr Code', 2)
    await page.getByRole('textbox', { name: 'Code' }).fill(/^\d{6}/.exec(subject)![0])
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('Approved by Ada.').waitFor()
    await page.evaluate(() => localStorage.setItem('heddle.language', 'de'))
    await page.reload()
    await page.getByText('Zugestimmt von Ada.').waitFor()
    const { status } = await until(async () => {
      const run = await site().call(ada, 'GET', `/api/workflows/executions/${execution_id}`)
      return run.status === 'succeeded' ? run : undefined
    }, 'the end')
    expect(status).toBe('succeeded')
  })
})
