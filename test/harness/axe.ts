import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { navigateTo, type Visitor } from './site.ts'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Scheme = 'light' | 'dark'

/** Opens each page and checks it with axe, in the light and the dark theme. */
export async function checkPages({ page }: Visitor, pages: [path: string, ready: string][]): Promise<void> {
  for (const [at, [path, ready]] of pages.entries()) {
    await (at === 0 ? page.goto(path) : navigateTo(page, path))
    await page.getByText(ready).first().waitFor()
    expect(await checkPage(page), path).toEqual([])
  }
}

/** Returns the findings of axe on the open page after it has loaded, in the given themes. */
export async function checkPage(page: Page, schemes: readonly Scheme[] = ['light', 'dark']): Promise<string[]> {
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
  const findings: string[] = []
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    findings.push(...(await severeFindings(page, colorScheme)).map((finding) => `${colorScheme}: ${finding}`))
  }
  return findings
}

/**
 * Returns one element for each combination of colours and font, because equal combinations need only one measurement.
 */
function texts(): Element[] {
  const behind = new Map<Element, string>()
  const lookBehind = (element: Element): string => {
    const known = behind.get(element)
    if (known !== undefined) return known
    const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element)
    const own = [backgroundColor, backgroundImage, opacity].join()
    const around = element.parentElement ? lookBehind(element.parentElement) : ''
    const look = own === 'rgba(0, 0, 0, 0),none,1' ? around : `${around};${own}`
    behind.set(element, look)
    return look
  }
  const found = new Map<string, Element>()
  for (const element of document.body.querySelectorAll('*')) {
    const says = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent!.trim() !== '')
    if (!says && !/^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName)) continue
    if (!element.checkVisibility({ visibilityProperty: true })) continue
    const { color, fontSize, fontWeight } = getComputedStyle(element)
    found.set([element.matches(':disabled'), color, fontSize, fontWeight, lookBehind(element)].join(), element)
  }
  return [...found.values()]
}

/**
 * Returns the serious and critical accessibility violations of the page. In the dark theme it checks only the contrast,
 * because only the colours differ. The script runs through the debugger, which the content security policy does not
 * block.
 */
export async function severeFindings(page: Page, scheme: Scheme = 'light'): Promise<string[]> {
  if (!(await page.evaluate("typeof axe === 'object'"))) await page.evaluate(source)
  // Waits for colour transitions to end, because their intermediate contrast does not count.
  await page.evaluate('Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => {})))')
  const options: RunOptions = {
    resultTypes: ['violations'],
    selectors: false,
    ...(scheme === 'dark' && { runOnly: { type: 'rule', values: ['color-contrast'] } }),
  }
  const where = scheme === 'dark' ? `{ include: (${texts})() }` : 'document'
  const { violations, passes } = await page.evaluate<AxeResults>(`axe.run(${where}, ${JSON.stringify(options)})`)
  expect([...passes, ...violations].map(({ id }) => id)).toContain('color-contrast')
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}
