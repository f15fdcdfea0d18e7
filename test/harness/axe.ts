import { AxeBuilder } from '@axe-core/playwright'
import { expect } from 'vitest'
import type { Visitor } from './site.ts'

/** Opens each page and holds it against axe, in the light and in the dark. */
export async function checkPages(visitor: Visitor, pages: [path: string, ready: string][]): Promise<void> {
  for (const [path, ready] of pages) {
    await visitor.page.goto(path)
    await visitor.page.getByText(ready).first().waitFor()
    await visitor.page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
    for (const colorScheme of ['light', 'dark'] as const) {
      await visitor.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      expect(await severe(visitor, colorScheme), `${path} in ${colorScheme}`).toEqual([])
    }
  }
}

/** Colours are all that differs between the themes. */
async function severe({ page }: Visitor, theme: 'light' | 'dark'): Promise<string[]> {
  const axe = new AxeBuilder({ page: page as never })
  const { violations } = await (theme === 'dark' ? axe.withRules(['color-contrast']) : axe).analyze()
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}
