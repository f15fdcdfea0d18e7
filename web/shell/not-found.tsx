import { SearchX } from 'lucide-react'
import { ButtonLink } from '#web/ui/button.tsx'
import { useTitle } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { t } from '#web/words/language.ts'

export function NotFound() {
  useTitle('Not found')
  return (
    <main className="mx-auto max-w-xl px-4 py-24">
      <h1 className="sr-only">Not found</h1>
      <Empty icon={SearchX} title={t('Page not found')} action={<ButtonLink to="/">{t('Go to home')}</ButtonLink>}>
        {t('The address may be wrong, or the page was deleted.')}
      </Empty>
    </main>
  )
}
