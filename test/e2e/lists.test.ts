import { describe, expect, it } from 'vitest'
import { follow, noBrowser, useSite } from '#test/harness/site'

// Searching in lists, and doing something with several rows at once.

const definition = { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] }

describe.skipIf(noBrowser)('lists', { timeout: 90_000 }, () => {
  const site = useSite()

  it('are searched by the service, and say when nothing matches', async () => {
    const ada = await site().signUp('Ada')
    for (const name of ['Finance', 'Legal']) await site().call(ada, 'POST', '/api/teams', { name })
    await ada.page.goto('/')
    await follow(ada.page, '/teams')
    await ada.page.getByRole('link', { name: 'Legal' }).waitFor()
    await ada.page.getByRole('searchbox', { name: 'Search' }).fill('FINAN')
    await ada.page.getByRole('link', { name: 'Legal' }).waitFor({ state: 'detached' })
    expect(await ada.page.getByRole('link', { name: 'Finance' }).count()).toBe(1)
    await ada.page.getByRole('searchbox', { name: 'Search' }).fill('no such team')
    await ada.page.getByText('Nothing matches').waitFor()
    await ada.page.getByRole('button', { name: 'Clear search' }).click()
    await ada.page.getByRole('link', { name: 'Legal' }).waitFor()
  })

  it('let several rows be chosen: workflows are deleted, notifications marked and deleted', async () => {
    const ada = await site().signUp('Ada')
    for (const name of ['One', 'Two', 'Three']) await site().call(ada, 'POST', '/api/workflows', { name, definition })
    for (const title of ['First', 'Second']) await site().call(ada, 'POST', '/api/notifications', { title })
    await ada.page.goto('/')
    await follow(ada.page, '/workflows')
    for (const name of ['One', 'Two']) await ada.page.getByRole('checkbox', { name: `Select ${name}` }).check()
    await ada.page.getByText('2 selected').waitFor()
    await ada.page.getByRole('button', { name: 'Delete', exact: true }).click()
    await ada.page.getByRole('button', { name: 'Delete workflows' }).click()
    await ada.page.getByRole('link', { name: 'One' }).waitFor({ state: 'detached' })
    await ada.page.getByRole('link', { name: 'Two' }).waitFor({ state: 'detached' })
    await ada.page.getByRole('link', { name: 'Three' }).waitFor()

    await follow(ada.page, '/notifications')
    await ada.page.getByRole('button', { name: 'Mark all as read' }).click()
    await ada.page.getByRole('button', { name: 'Mark all as read' }).waitFor({ state: 'detached' })
    await ada.page.getByRole('button', { name: 'Delete read', exact: true }).click()
    await ada.page.getByRole('button', { name: 'Delete read notifications' }).click()
    await ada.page.getByText('No notifications yet').waitFor()
  })
})
