import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { messageOf } from './messages.ts'

export type Attempt = { pending: boolean; problem: string | null; work(run: () => Promise<void>): Promise<void> }

/** An operation that the user waits for: whether it is pending, and its error. */
export function useAttempt(): Attempt {
  const [pending, setPending] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const work = async (run: () => Promise<void>): Promise<void> => {
    setPending(true)
    setProblem(null)
    try {
      await run()
    } catch (error) {
      setProblem(messageOf(error))
    } finally {
      setPending(false)
    }
  }
  return { pending, problem, work }
}

type StepProps = {
  attempt: Attempt
  /** Set if there is a previous step. */
  onBack: (() => void) | undefined
  onNext(): void
  next: string
  children: ReactNode
}

/** One step of a dialog with several steps: its content, its error, and the buttons back and next. */
export function Step({ attempt, onBack, onNext, next, children }: StepProps) {
  return (
    <div className="flex flex-col gap-4">
      {children}
      {attempt.problem !== null && (
        <p role="alert" className="rounded-md bg-danger-soft px-3 py-2 text-danger">
          {attempt.problem}
        </p>
      )}
      <div className="flex justify-end gap-2">
        {onBack && <Button onClick={onBack}>Back</Button>}
        <Button look="primary" pending={attempt.pending} onClick={onNext}>
          {next}
        </Button>
      </div>
    </div>
  )
}
