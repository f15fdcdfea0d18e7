import type { ErrorComponentProps } from '@tanstack/react-router'
import { ErrorState } from '#web/ui/states.tsx'

/** Shown for a page that failed; the rest of the console continues to work. */
export const PageFailed = ({ error, reset }: ErrorComponentProps) => (
  <div className="mx-auto max-w-xl px-4 py-24">
    <ErrorState error={error} onRetry={reset} what="this page" />
  </div>
)
