import { describe, expect, it } from 'vitest'
import { checkPages } from '#test/harness/axe'
import { eventually, noBrowser, useSite } from '#test/harness/site'
import { slow } from '#test/harness/slow'
import { SITE, visit } from '#test/harness/widget'

const hostile = `<img src=x onerror="window.hacked=1">`

describe.skipIf(noBrowser)('conversations', () => {
  const site = useSite()

  slow('a thread accepts text and a voice message, and plays the voice message', async () => {
    const ada = await site().signUp('Ada')
    const { page, context } = ada
    await context.grantPermissions(['microphone'])
    await page.goto('/threads')
    await page.getByRole('button', { name: 'New thread' }).first().click()
    await page.getByLabel('Title').fill('Refunds')
    await page.getByRole('button', { name: 'Create thread' }).click()
    await page.getByRole('textbox', { name: 'Message' }).fill(`Hello ${hostile}`)
    await page.keyboard.press('Enter')
    await page.getByText('<img src=x').waitFor()

    await page.getByRole('button', { name: 'Record a voice message' }).click()
    await page.getByRole('button', { name: /^Stop [1-9]/ }).click()
    await page.getByRole('textbox', { name: 'Message' }).fill('Listen to this')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('button', { name: 'Play' }).click()
    const clip = page.getByLabel('Voice message', { exact: true })
    await clip.waitFor()
    await eventually(() => clip.evaluate((element) => (element as HTMLAudioElement).readyState >= 1)).toBe(true)

    await page.getByRole('link', { name: 'People', exact: true }).last().click()
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByLabel('E-mail').fill('guest@example.com')
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
    expect(await page.getByTestId('copy-text').textContent()).toContain('/invitations/')
    expect(await page.evaluate('window.hacked')).toBeUndefined()
  })

  it('a template is created, its widget answers in the preview, and a token comes with the HTML line to embed it', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await page.goto('/templates/new')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Shop assistant')
    await page.getByLabel('Greeting').fill('Welcome to the shop!')
    await page.getByRole('button', { name: 'Create template' }).click()
    await page.getByRole('button', { name: 'Start the preview' }).click()
    await page.getByTestId('preview').getByText('Welcome to the shop!').waitFor()
    await page.getByRole('button', { name: 'New token' }).first().click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('shop.example')
    await page.getByRole('button', { name: 'Create token' }).click()
    const line = await page.getByTestId('copy-text').first().textContent()
    expect(line).toMatch(
      /^<script src="http.*\/widget\/v1\.js" data-template="tmpl_\w+" data-token="ems_\w+" async><\/script>$/,
    )
  })

  slow(
    'a message of a visitor is read and answered in the console, and kept for the retention time of the template',
    async () => {
      const ada = await site().signUp('Ada')
      const { page } = ada
      const { template_id } = await site().call(ada, 'POST', '/api/templates', {
        name: 'Shop assistant',
        allowed_origins: [SITE],
      })
      await page.goto(`/templates/${template_id}`)
      await page.getByLabel('Conversation retention (days)').fill('30')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Saved. Open conversations use the new settings').waitFor()
      expect(await site().call(ada, 'GET', `/api/templates/${template_id}`)).toMatchObject({ retention_days: 30 })

      const { token } = await site().call(ada, 'POST', `/api/templates/${template_id}/embed-tokens`, {
        name: 'shop.example',
      })
      const visitor = await visit(site().service, template_id, token)
      await visitor.chat('Where is my parcel? <b>now</b>')
      await page.goto('/conversations')
      await page.getByRole('link', { name: /Visitor of Shop assistant.*1 new/ }).click()
      await page.getByText('Where is my parcel? <b>now</b>').waitFor()
      await page.getByText('The assistant answers. Send a message to take over.').waitFor()
      await page.getByRole('textbox', { name: 'Message' }).fill(`On its way ${hostile}`)
      await page.keyboard.press('Enter')
      await page.getByText('You are talking to the visitor. The assistant is paused.').waitFor()
      const history = await visitor.history((await page.evaluate('location.pathname.split("/").at(-1)')) as string)
      expect(history.at(-1)).toMatchObject({ role: 'assistant', author: 'A colleague', text: `On its way ${hostile}` })
      await page.getByRole('button', { name: 'Hand back' }).click()
      await page.getByRole('list', { name: 'Messages' }).getByText('The assistant answers again.').waitFor()
      expect(await page.evaluate('window.hacked')).toBeUndefined()
      await page.getByRole('textbox', { name: 'New note' }).fill(`Call them ${hostile}`)
      await page.getByRole('button', { name: 'Add note' }).click()
      await page.getByText(`Call them ${hostile}`).waitFor()
      await page.getByLabel('Assigned to').last().selectOption({ label: 'Ada' })
      await page.getByRole('button', { name: 'Close', exact: true }).click()
      await page.getByRole('button', { name: 'Open again' }).waitFor()
      const [listed] = (await site().call(ada, 'GET', '/api/conversations')).items
      expect(listed).toMatchObject({ state: 'closed', unread_count: 0, assignee: { name: 'Ada' } })
      expect(JSON.stringify(await visitor.history(listed.thread_id))).not.toContain('Call them')
      await checkPages(ada, [[`/conversations/${listed.thread_id}`, 'Open again']])
    },
  )

  it('a channel is created and tested', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await site().call(ada, 'POST', '/api/templates', { name: 'Support' })
    await page.goto('/channels/new')
    await page.getByRole('link', { name: /E-mail/ }).click()
    await page.getByLabel('Address').fill('support@example.com')
    await page.getByLabel('Inbound secret').fill('a secret of ours')
    await page.getByRole('button', { name: 'Connect' }).click()
    expect(await page.getByTestId('copy-text').textContent()).toContain('/gateway/email/chan_')
    await page.getByLabel('E-mail address').fill('ada@example.com')
    await page.getByRole('button', { name: 'Send test message' }).click()
    await page.getByText('E-mail accepted the message.').waitFor()
    await page.getByRole('switch', { name: 'On' }).click()
    await page.getByText('Off', { exact: true }).waitFor()
  })
})
