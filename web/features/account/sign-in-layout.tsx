import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useApi } from '#web/api.ts'
import { resetSession } from '#web/session.tsx'
import { Mark } from '#web/shell/workspace-switcher.tsx'
import { buttonClass } from '#web/ui/button.tsx'
import { useTitle } from '#web/ui/page.tsx'

// The common parts of sign-in, sign-up and invitations.

/** Returns the path of this console to return to; any other address would lead to another site. */
function useReturnTo(): string {
  const { return_to } = useSearch({ strict: false }) as { return_to?: string }
  return return_to !== undefined && /^\/(?![/\\])/.test(return_to) ? return_to : '/'
}

export function useEnterConsole(): () => Promise<void> {
  const navigate = useNavigate()
  const to = useReturnTo()
  return async () => {
    await resetSession()
    const [path = '/', query = ''] = to.split('?', 2)
    await navigate({ to: path, search: Object.fromEntries(new URLSearchParams(query)) as never, replace: true })
  }
}

export function SignInLayout({
  title,
  lead,
  children,
  below,
}: {
  title: string
  lead?: ReactNode
  children: ReactNode
  below?: ReactNode
}) {
  useTitle(title)
  return (
    <main className="grid min-h-dvh place-items-center px-4 py-10">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex items-center gap-2.5">
          <Mark className="size-8" />
          <span className="text-lg font-semibold tracking-tight">Heddle</span>
        </div>
        <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
        {lead && <div className="mt-1 text-ink-2">{lead}</div>}
        <div className="mt-5 rounded-lg border border-line bg-surface p-5">{children}</div>
        {below && <p className="mt-4 text-center text-ink-2">{below}</p>}
      </div>
    </main>
  )
}

/** Buttons of the configured OpenID providers; nothing if there are none. */
export function Providers() {
  const { data } = useApi('listOidcProviders')
  const to = useReturnTo()
  if (!data || data.items.length === 0) return null
  return (
    <div className="mb-4 flex flex-col gap-2 border-b border-line pb-4">
      {data.items.map(({ provider, title, start_url }) => (
        <a
          key={provider}
          href={`${new URL(start_url, location.origin).pathname}?return_to=${encodeURIComponent(to)}`}
          className={buttonClass('secondary')}
        >
          Continue with {title}
        </a>
      ))}
    </div>
  )
}
