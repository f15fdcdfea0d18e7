import { useEffect, useRef, useState } from 'react'
import { api, invalidate } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { Loading } from '#web/ui/states.tsx'

// Stripe's own form, in Stripe's frames: the number of a card never reaches this page.

type Outcome = { error?: { message?: string } }
type Elements = { create(kind: 'payment'): { mount(at: HTMLElement): void; destroy(): void } }
type StripeJs = {
  elements(options: { clientSecret: string }): Elements
  confirmSetup(options: {
    elements: Elements
    redirect: 'if_required'
    confirmParams: { return_url: string }
  }): Promise<Outcome>
  confirmCardPayment(clientSecret: string): Promise<Outcome>
}
declare global {
  interface Window {
    Stripe?: (publishableKey: string) => StripeJs
  }
}

const SCRIPT = 'https://js.stripe.com/v3/'

async function loadStripe(publishableKey: string): Promise<StripeJs> {
  if (!window.Stripe)
    await new Promise<void>((resolve, reject) => {
      const script = document.createElement('script')
      script.src = SCRIPT
      script.onload = () => resolve()
      script.onerror = () => {
        script.remove()
        reject(new Error('The form of Stripe could not be loaded. Check the network and try again.'))
      }
      document.head.append(script)
    })
  return window.Stripe!(publishableKey)
}

/** Waits until the service knows the card: Stripe notifies the service a moment after this page. */
async function untilAdded(before: number): Promise<void> {
  for (let look = 0; look < 15; look++) {
    const { items } = await api.listPaymentMethods({ limit: 100 })
    if (items.length > before) return
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}

export function StripeCardForm({
  publishableKey,
  clientSecret,
  onAdded,
}: {
  publishableKey: string
  clientSecret: string
  onAdded(): void
}) {
  const place = useRef<HTMLDivElement>(null)
  const form = useRef<{ stripe: StripeJs; elements: Elements } | null>(null)
  const [ready, setReady] = useState(false)
  const [pending, setPending] = useState(false)
  const [refused, setRefused] = useState<string | null>(null)
  useEffect(() => {
    let mounted: ReturnType<Elements['create']> | undefined
    let gone = false
    loadStripe(publishableKey).then(
      (stripe) => {
        if (gone || !place.current) return
        const elements = stripe.elements({ clientSecret })
        mounted = elements.create('payment')
        mounted.mount(place.current)
        form.current = { stripe, elements }
        setReady(true)
      },
      (error: Error) => !gone && setRefused(error.message),
    )
    return () => {
      gone = true
      mounted?.destroy()
    }
  }, [publishableKey, clientSecret])
  const submit = async (): Promise<void> => {
    if (!form.current) return
    setPending(true)
    setRefused(null)
    const before = (await api.listPaymentMethods({ limit: 100 })).items.length
    const { error } = await form.current.stripe.confirmSetup({
      elements: form.current.elements,
      redirect: 'if_required',
      confirmParams: { return_url: `${location.origin}/billing/cards` },
    })
    if (error) setRefused(error.message ?? 'The card was refused.')
    else {
      await untilAdded(before)
      await invalidate('listPaymentMethods')
      onAdded()
    }
    setPending(false)
  }
  return (
    <div className="flex flex-col gap-4">
      {!ready && refused === null && <Loading rows={3} />}
      <div ref={place} />
      {refused !== null && (
        <p role="alert" className="rounded-md bg-danger-soft px-3 py-2 text-danger">
          {refused}
        </p>
      )}
      <div className="flex justify-end">
        <Button look="primary" pending={pending} disabled={!ready} onClick={() => void submit()}>
          Add card
        </Button>
      </div>
    </div>
  )
}

/** Shows the bank's own window. Returns the error message, or null on success. */
export async function confirmPayment(publishableKey: string, clientSecret: string): Promise<string | null> {
  const stripe = await loadStripe(publishableKey)
  const { error } = await stripe.confirmCardPayment(clientSecret)
  return error ? (error.message ?? 'The payment was refused.') : null
}
