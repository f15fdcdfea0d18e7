import { Play } from 'lucide-react'
import { createElement, useEffect, useState } from 'react'
import type { Template } from '#sdk/types.generated'
import { api, invalidate } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { ErrorState, Loading } from '#web/ui/states.tsx'

type State =
  | { step: 'off' }
  | { step: 'starting' }
  | { step: 'on'; token: string; tokenId: string }
  | { step: 'failed'; error: unknown }

/** Loads the widget's own script, from our own origin; it defines its elements once per page. */
const loadWidget = (): Promise<unknown> => {
  const address = '/widget/v1.js'
  return customElements.get('heddle-chat') ? Promise.resolve() : import(/* @vite-ignore */ address)
}

/** Shows the widget with its own token, only for this page, which is deleted when the user leaves the preview. */
export function Preview({ template }: { template: Template }) {
  const [state, setState] = useState<State>({ step: 'off' })
  const { template_id } = template
  const tokenId = state.step === 'on' ? state.tokenId : null
  useEffect(() => {
    if (tokenId === null) return
    const forget = (): void =>
      void api.deleteTemplateToken({ template_id, token_id: tokenId }).then(
        () => invalidate('listTemplateTokens'),
        () => {},
      )
    window.addEventListener('pagehide', forget)
    return () => {
      window.removeEventListener('pagehide', forget)
      forget()
    }
  }, [tokenId, template_id])
  const start = async (): Promise<void> => {
    setState({ step: 'starting' })
    try {
      await loadWidget()
      const { token, token_id } = await api.createTemplateToken({ template_id, name: 'Preview', allowed_origins: [] })
      setState({ step: 'on', token, tokenId: token_id })
    } catch (error) {
      setState({ step: 'failed', error })
    }
  }
  switch (state.step) {
    case 'off':
      return (
        <div className="grid h-96 place-items-center rounded-lg border border-dashed border-line">
          <Button icon={Play} onClick={() => void start()}>
            Start the preview
          </Button>
        </div>
      )
    case 'starting':
      return <Loading />
    case 'failed':
      return <ErrorState error={state.error} what="the preview" onRetry={() => void start()} />
    case 'on':
      return (
        <div className="h-[32rem]" data-testid="preview">
          {createElement('heddle-chat', {
            template: template_id,
            token: state.token,
            base: location.origin,
            style: { display: 'block', height: '100%' },
          })}
        </div>
      )
  }
}
