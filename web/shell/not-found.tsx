import { SearchX } from 'lucide-react'
import { ButtonLink } from '#web/ui/button.tsx'
import { useTitle } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'

export function NotFound() {
  useTitle('Not found')
  return (
    <main className="mx-auto max-w-xl px-4 py-24">
      <h1 className="sr-only">Not found</h1>
      <Empty icon={SearchX} title="Page not found" action={<ButtonLink to="/">Go to home</ButtonLink>}>
        The address may be wrong, or the page was deleted.
      </Empty>
    </main>
  )
}
