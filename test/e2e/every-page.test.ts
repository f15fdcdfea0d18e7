import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { checkPage } from '#test/harness/axe'
import { navigateTo, noBrowser, useSite } from '#test/harness/site'
import { fillShowcase, PASSWORD, type Shown } from '#test/showcase/fill'
import { pages, type Shot } from '#test/showcase/pages'

const PHONE = { width: 390, height: 844 }
const DESK = { width: 1280, height: 860 }

describe.skipIf(noBrowser)('every page of a workspace at work', () => {
  const site = useSite()
  let shown: Shown
  beforeAll(async () => {
    shown = await fillShowcase(site().service.base, { leads: 30 })
  })

  it('is accessible in the light and the dark theme, fits a phone, and has one main heading', {
    timeout: 1_500_000,
  }, async () => {
    const ada = await site().visit()
    await site().call(ada, 'POST', '/auth/sign-in', { email: shown.owner, password: PASSWORD })
    const wrong: string[] = []
    await ada.page.goto('/')
    for (const shot of pages(shown)) {
      const first = await look(ada.page, shot, () => navigateTo(ada.page, shot.path)).catch(String)
      if (first.length === 0) continue
      console.log(`${shot.name} is looked at again: ${first}`)
      // A page that changes during the check (a live list, a late chart) is loaded and checked a second time.
      wrong.push(...(await look(ada.page, shot, () => ada.page.goto(shot.path))))
    }
    expect(wrong).toEqual([])
  })
})

async function look(page: Page, { name, ready, before }: Shot, go: () => Promise<unknown>): Promise<string[]> {
  await page.setViewportSize(DESK)
  await go()
  await page.getByText(ready).first().waitFor()
  await before?.(page)
  const wrong = (await checkPage(page, ['light', 'dark'])).map((finding) => `${name}: ${finding}`)
  if ((await page.getByRole('heading', { level: 1 }).count()) !== 1) wrong.push(`${name} has no single heading`)
  await page.setViewportSize(PHONE)
  const tooWide = await page.evaluate(async () => {
    const over = (): number => document.documentElement.scrollWidth - window.innerWidth
    // A chart adopts its new width some frames after its page.
    for (let frame = 0; frame < 60 && over() > 0; frame++) await new Promise(requestAnimationFrame)
    return over()
  })
  if (tooWide > 0) wrong.push(`${name} is ${tooWide} px too wide for a phone`)
  return wrong
}
