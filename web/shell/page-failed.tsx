import type { ErrorComponentProps } from '@tanstack/react-router'
import { ErrorState } from '#web/ui/states.tsx'

/** A page that broke: the rest of the console goes on. */
export const PageFailed = ({ error, reset }: ErrorComponentProps) => (
  <div className="mx-auto max-w-xl px-4 py-24">
    <ErrorState error={error} onRetry={reset} what="this page" />
  </div>
)
