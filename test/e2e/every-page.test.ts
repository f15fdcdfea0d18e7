import { describe, expect, it } from 'vitest'
import { checkPage } from '#test/harness/axe'
import { noBrowser, useSite } from '#test/harness/site'
import { fillShowcase, PASSWORD } from '#test/showcase/fill'
import { pages } from '#test/showcase/pages'

const PHONE = { width: 390, height: 844 }
const DESK = { width: 1280, height: 860 }

describe.skipIf(noBrowser)('every page of a workspace at work', () => {
  const site = useSite()

  it('shuts nobody out, in the light and in the dark, fits a phone, and says where one is', {
    timeout: 300_000,
  }, async () => {
    const shown = await fillShowcase(site().service.base)
    const ada = await site().visit()
    await site().call(ada, 'POST', '/auth/sign-in', { email: shown.owner, password: PASSWORD })
    const { page } = ada
    const wrong: string[] = []
    for (const { name, path, ready, before } of pages(shown)) {
      await page.setViewportSize(DESK)
      await page.goto(path)
      await page.getByText(ready).first().waitFor()
      await before?.(page)
      wrong.push(...(await checkPage(page)).map((finding) => `${name}: ${finding}`))
      if ((await page.getByRole('heading', { level: 1 }).count()) !== 1) wrong.push(`${name} has no single heading`)
      await page.setViewportSize(PHONE)
      const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      if (tooWide > 0) wrong.push(`${name} is ${tooWide} px too wide for a phone`)
    }
    expect(wrong).toEqual([])
  })
})
