import { translateMessage } from '#web/words/messages.ts'
import { toast } from './toast.tsx'

/** Shows the result of a test. `ok` is null if the result is unknown. */
export function showTestResult({ ok, message }: { ok: boolean | null; message: string }): void {
  const text = translateMessage(message)
  if (ok === null) toast.tell(text)
  else if (ok) toast.done('It works', text)
  else toast.failed('It does not work', new Error(text))
}
