import { useEffect, useState } from 'react'
import type { SetupIntent } from '#sdk/types.generated'
import { api, invalidate, newKey } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { ErrorState, Loading } from '#web/ui/states.tsx'
import { toast } from '#web/ui/toast.tsx'
import { StripeCardForm } from './stripe-form.tsx'

const testCards: { number: string; what: string }[] = [
  { number: '4242 4242 4242 4242', what: 'works' },
  { number: '5555 5555 5555 4444', what: 'works (Mastercard)' },
  { number: '4000 0000 0000 0002', what: 'declined' },
  { number: '4000 0025 0000 3155', what: 'requires confirmation' },
  { number: '4000 0000 0000 0341', what: 'can be added, but every charge fails' },
]

export function AddCard({ open, onClose }: { open: boolean; onClose(): void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Add card" size="medium">
      {open && <CardForm onAdded={onClose} onCancel={onClose} />}
    </Dialog>
  )
}

/** Asks for a card in place: on the page of cards, and during a subscription. */
export function CardForm({ onAdded, onCancel }: { onAdded(): void; onCancel?: () => void }) {
  const [intent, setIntent] = useState<SetupIntent | null>(null)
  const [failure, setFailure] = useState<unknown>(null)
  const [attempt, setAttempt] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `attempt` is a wish to try again
  useEffect(() => {
    let gone = false
    setIntent(null)
    setFailure(null)
    api.createSetupIntent({}, { idempotencyKey: newKey() }).then(
      (made) => !gone && setIntent(made),
      (error: unknown) => !gone && setFailure(error),
    )
    return () => {
      gone = true
    }
  }, [attempt])
  if (failure) return <ErrorState error={failure} what="the card form" onRetry={() => setAttempt(attempt + 1)} />
  if (intent === null) return <Loading rows={3} />
  if (intent.provider === 'builtin') return <TestCardForm intent={intent} onAdded={onAdded} onCancel={onCancel} />
  if (intent.publishable_key !== null)
    return (
      <StripeCardForm publishableKey={intent.publishable_key} clientSecret={intent.client_secret} onAdded={onAdded} />
    )
  return (
    <div className="flex flex-col gap-4">
      <p>
        This installation accepts cards through Stripe but has no publishable key, so it cannot show the card form. An
        operator can set <code className="font-mono text-xs">STRIPE_PUBLISHABLE_KEY</code>. Until then, use this client
        secret in your own form; the card then appears here automatically.
      </p>
      <CopyField label="Client secret" text={intent.client_secret} secret />
    </div>
  )
}

type Values = { number: string; expiry: string; cvc: string }

function TestCardForm({
  intent,
  onAdded,
  onCancel,
}: {
  intent: SetupIntent
  onAdded(): void
  onCancel: (() => void) | undefined
}) {
  const [number, setNumber] = useState('')
  const [asked, setAsked] = useState(false)
  return (
    <Form<Values>
      submit={asked ? 'Confirm at the bank' : 'Add card'}
      {...(onCancel && { onCancel })}
      onSubmit={async ({ expiry, cvc }) => {
        const { status, payment_method } = await api.confirmSetupIntent({
          setup_intent_id: intent.setup_intent_id,
          client_secret: intent.client_secret,
          card: { number: number.replaceAll(/\s/g, ''), ...readExpiry(expiry), cvc },
        })
        if (status === 'requires_action') {
          setAsked(true)
          return
        }
        await invalidate('listPaymentMethods')
        toast.done(`The card ending in ${payment_method?.last4 ?? ''} was added`)
        onAdded()
      }}
    >
      <Field name="number" label="Card number">
        <Input
          required
          autoFocus
          inputMode="numeric"
          autoComplete="off"
          placeholder="4242 4242 4242 4242"
          value={number}
          onChange={(event) => setNumber(event.target.value)}
        />
      </Field>
      <div className="grid grid-cols-2 gap-4">
        <Field name="expiry" label="Valid until">
          <Input
            required
            placeholder="MM/YY"
            defaultValue="12/40"
            pattern="\d{1,2}\s*/\s*(\d{2}|\d{4})"
            autoComplete="off"
          />
        </Field>
        <Field name="cvc" label="Security code">
          <Input required inputMode="numeric" pattern="\d{3,4}" defaultValue="123" autoComplete="off" />
        </Field>
      </div>
      {asked && (
        <p role="status" className="rounded-md bg-waiting-soft px-3 py-2 text-waiting">
          Your bank asks for confirmation. Press the button again to confirm.
        </p>
      )}
      <div className="rounded-md border border-line bg-sunken p-3">
        <p className="mb-2 text-ink-2">
          Test mode: the built-in provider accepts only these test cards and charges nothing.
        </p>
        <ul className="flex flex-col gap-1">
          {testCards.map((card) => (
            <li key={card.number} className="flex items-center gap-x-3 max-sm:flex-col max-sm:items-start">
              <Button size="small" look="quiet" className="font-mono" onClick={() => setNumber(card.number)}>
                {card.number}
              </Button>
              <span className="text-ink-2">{card.what}</span>
            </li>
          ))}
        </ul>
      </div>
    </Form>
  )
}

function readExpiry(text: string): { exp_month: number; exp_year: number } {
  const [month = '', year = ''] = text.split('/').map((part) => part.trim())
  return { exp_month: Number(month), exp_year: year.length === 2 ? 2000 + Number(year) : Number(year) }
}
