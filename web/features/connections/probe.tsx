import { CircleCheck, CircleDashed, CircleX, LoaderCircle, type LucideIcon } from 'lucide-react'
import { HeddleProblem } from '#sdk/problems'
import { cx } from '#web/ui/cx.ts'
import { t } from '#web/words/language.ts'
import { translateMessage } from '#web/words/messages.ts'

// The probe goes step by step and stops at the first failure; the user needs to know which step failed, and why.

const steps: { step: string; what: string }[] = [
  { step: 'resolve', what: 'Find the host' },
  { step: 'connect', what: 'Connect' },
  { step: 'tls', what: 'Set up TLS' },
  { step: 'sign_in', what: 'Sign in' },
  { step: 'read', what: 'Read data' },
]

export type ProbeState = { state: 'running' } | { state: 'passed' } | { state: 'failed'; step: string; message: string }

/** Returns the failed probe of an error; null for any other error. */
export function probeFailure(error: unknown): ProbeState | null {
  if (!(error instanceof HeddleProblem) || error.code !== 'probe_failed') return null
  const [first] = error.errors
  return { state: 'failed', step: first?.path.slice(1) ?? '', message: first?.message ?? error.message }
}

type Shown = 'passed' | 'failed' | 'running' | 'open'
const looks: Record<Shown, { icon: LucideIcon; colour: string; word: string }> = {
  passed: { icon: CircleCheck, colour: 'text-success', word: t('done') },
  failed: { icon: CircleX, colour: 'text-danger', word: t('failed') },
  running: { icon: LoaderCircle, colour: 'text-running', word: t('testing') },
  open: { icon: CircleDashed, colour: 'text-ink-3', word: t('not tested') },
}

/** `stored`: the connection already exists, and a failed probe does not change it. */
export function Probe({ probe, stored = false }: { probe: ProbeState; stored?: boolean }) {
  const failedAt = probe.state === 'failed' ? steps.findIndex(({ step }) => step === probe.step) : -1
  const shownAt = (at: number): Shown => {
    if (probe.state === 'passed') return 'passed'
    if (probe.state === 'running') return 'running'
    if (failedAt === -1) return 'open'
    return at < failedAt ? 'passed' : at === failedAt ? 'failed' : 'open'
  }
  return (
    <div role={probe.state === 'failed' ? 'alert' : 'status'} className="rounded-lg border border-line bg-surface p-4">
      <p className="mb-2 font-medium">
        {probe.state === 'running'
          ? 'Testing the connection…'
          : probe.state === 'passed'
            ? 'The connection works'
            : stored
              ? 'The connection fails'
              : 'The connection does not work yet'}
      </p>
      <ol className="flex flex-col gap-1.5">
        {steps.map(({ step, what }, at) => {
          const { icon: Icon, colour, word } = looks[shownAt(at)]
          return (
            <li key={step} className="flex items-start gap-2">
              <Icon
                aria-hidden
                className={cx('mt-0.5 size-4 shrink-0', colour, probe.state === 'running' && 'animate-spin')}
              />
              <span className={cx(shownAt(at) === 'open' && 'text-ink-2')}>
                {what} <span className="sr-only">({word})</span>
                {probe.state === 'failed' && at === failedAt && (
                  <span className="block break-words text-danger">{translateMessage(probe.message)}</span>
                )}
              </span>
            </li>
          )
        })}
      </ol>
      {probe.state === 'failed' && failedAt === -1 && (
        <p className="mt-2 break-words text-danger">{translateMessage(probe.message)}</p>
      )}
      {probe.state === 'failed' && !stored && (
        <p className="mt-3 text-ink-2">Nothing was saved. Fix the problem and try again.</p>
      )}
    </div>
  )
}
