import { Sparkles } from 'lucide-react'
import { useId, useState } from 'react'
import { api } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { inputClass } from '#web/ui/field.tsx'
import { toast } from '#web/ui/toast.tsx'

/** Fills the form from a text, such as an order or a mail; the user reviews the fields before anything runs. */
export function FillFromMessage({
  workflow_id,
  onFilled,
}: {
  workflow_id: string
  onFilled(values: Record<string, unknown>): void
}) {
  const [message, setMessage] = useState('')
  const [pending, setPending] = useState(false)
  const id = useId()
  const fill = async (): Promise<void> => {
    setPending(true)
    try {
      const { values, missing } = await api.extractRequirements({ workflow_id, message })
      onFilled(values)
      toast.done('Filled in', missing.length > 0 ? `Not in the message: ${missing.join(', ')}.` : undefined)
    } catch (error) {
      toast.failed('Could not read the message', error)
    } finally {
      setPending(false)
    }
  }
  return (
    <details className="mt-5">
      <summary className="text-accent">Fill in from a message</summary>
      <div className="mt-2 flex flex-col items-start gap-2">
        <label htmlFor={id} className="sr-only">
          Message
        </label>
        <textarea
          id={id}
          rows={3}
          value={message}
          onChange={(event) => setMessage(event.target.value)}
          placeholder="Paste a message to fill in the form"
          className={`${inputClass} py-2`}
        />
        <Button
          size="small"
          icon={Sparkles}
          pending={pending}
          disabled={message.trim() === ''}
          onClick={() => void fill()}
        >
          Fill in
        </Button>
      </div>
    </details>
  )
}
