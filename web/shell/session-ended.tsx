import { lazy, Suspense, useEffect, useState } from 'react'
import { session } from '#web/api.ts'
import type { Person } from '#web/session.tsx'

const SessionEndedDialog = lazy(() =>
  import('./session-ended-dialog.tsx').then((module) => ({ default: module.SessionEndedDialog })),
)

/** Detects the end of the session; the dialog is loaded only then. */
export function SessionEnded({ me }: { me: Person }) {
  const [ended, setEnded] = useState(false)
  useEffect(() => {
    session.onEnded = () => setEnded(true)
    return () => {
      session.onEnded = () => {}
    }
  }, [])
  if (!ended) return null
  return (
    <Suspense>
      <SessionEndedDialog me={me} onBack={() => setEnded(false)} />
    </Suspense>
  )
}
