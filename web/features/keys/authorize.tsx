import { useSearch } from '@tanstack/react-router'
import { Plug } from 'lucide-react'
import { useState } from 'react'
import type { AuthorizationRequest } from '#sdk/types.generated'
import { api, type InputOf, useApi } from '#web/api.ts'
import { useMe } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { Card, Page } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { toast } from '#web/ui/toast.tsx'

type Asked = InputOf<'getAuthorizationRequest'>

/**
 * The consent page to which a program sent the browser. The program chooses its own name, so the page also shows where
 * the answer is sent.
 */
export function AuthorizePage() {
  const asked = useSearch({ strict: false }) as unknown as Asked
  const request = useApi('getAuthorizationRequest', asked, { staleTime: Number.POSITIVE_INFINITY })
  return (
    <Page title="Allow a program">
      <Loaded of={request} what="the request of the program">
        {(found) => <Question asked={asked} request={found} />}
      </Loaded>
    </Page>
  )
}

function Question({ asked, request }: { asked: Asked; request: AuthorizationRequest }) {
  const { workspace } = useMe()
  const [pending, setPending] = useState<'allow' | 'deny' | null>(null)
  const [left, setLeft] = useState(false)
  const decide = async (decision: 'allow' | 'deny'): Promise<void> => {
    setPending(decision)
    try {
      const { redirect_url } = await api.decideAuthorization({ ...asked, decision })
      setLeft(true)
      location.assign(redirect_url)
    } catch (error) {
      toast.failed('Could not answer the program', error)
    } finally {
      setPending(null)
    }
  }
  if (left) {
    return (
      <Empty icon={Plug} title="You can close this page">
        The program has your answer.
      </Empty>
    )
  }
  return (
    <Card className="flex max-w-xl flex-col gap-4">
      <p>
        <strong className="font-semibold break-words">{request.client_name}</strong> wants to run workflows of{' '}
        <strong className="font-semibold break-words">{workspace?.name ?? ''}</strong> in your name.
      </p>
      <p className="text-ink-2">
        The program chose its name itself. Your answer goes to{' '}
        <code className="font-mono text-xs break-all">{request.redirect_to}</code>.
        {request.already_allowed && ' You have allowed it here before.'}
      </p>
      <section>
        <h2 className="mb-1 text-sm font-medium">Workflows it can run now</h2>
        {request.workflows.length === 0 ? (
          <p className="text-ink-2">None. A workflow becomes a tool in its settings.</p>
        ) : (
          <ul className="max-h-60 list-disc overflow-y-auto pl-5">
            {request.workflows.map(({ workflow_id, name }) => (
              <li key={workflow_id} className="break-words">
                {name}
              </li>
            ))}
          </ul>
        )}
        <p className="mt-2 text-ink-2">
          Workflows that you make a tool later are added. It sees and changes nothing else. You can remove it under API
          keys at any time.
        </p>
      </section>
      <div className="flex justify-end gap-2">
        <Button look="quiet" pending={pending === 'deny'} onClick={() => void decide('deny')}>
          Do not allow
        </Button>
        <Button look="primary" pending={pending === 'allow'} onClick={() => void decide('allow')}>
          Allow
        </Button>
      </div>
    </Card>
  )
}
