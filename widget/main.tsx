import { render } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type Api, type Config, makeApi, type Target } from './api.ts'
import { Chat } from './chat.tsx'
import { Icon } from './icons.tsx'
import { applyTheme, css } from './theme.ts'
import { t } from './words.ts'

// One script tag puts a chat on any page:
//   <script src="https://heddle.example/widget/v1.js" data-template="tmpl_…" data-token="ems_…" async></script>
// or, at a fixed place in the page:
//   <heddle-chat template="tmpl_…" token="ems_…"></heddle-chat>   <heddle-workflow workflow="wf_…" token="ems_…"></heddle-workflow>

const script = document.currentScript as HTMLScriptElement | null
const ownBase = script?.src ? new URL(script.src).origin : location.origin

function Floating({ api, config }: { api: Api; config: Config }) {
  const [open, setOpen] = useState<boolean>()
  const launch = useRef<HTMLButtonElement>(null)
  const close = useCallback(() => setOpen(false), [])
  // Closing the chat moves the focus back to the button that opened it.
  useEffect(() => {
    if (open === false) launch.current?.focus()
  }, [open])
  return open ? (
    <Chat api={api} config={config} onClose={close} />
  ) : (
    <button
      type="button"
      class="launch"
      ref={launch}
      aria-label={`${t('Open the chat')}: ${config.name}`}
      onClick={() => setOpen(true)}
    >
      <Icon name="chat" />
    </button>
  )
}

function Failed({ message }: { message: string }) {
  return (
    <p class="note bad" role="alert">
      {message}
    </p>
  )
}

abstract class Widget extends HTMLElement {
  protected abstract target(): Target | null
  private root = this.attachShadow({ mode: 'open' })

  async connectedCallback(): Promise<void> {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(css)
    this.root.adoptedStyleSheets = [sheet]
    const target = this.target()
    const token = this.getAttribute('token')
    if (!target || !token)
      return render(<Failed message="The chat is not configured: it needs an id and a token." />, this.root)
    const api = makeApi({ base: this.getAttribute('base') ?? ownBase, token, target })
    try {
      const config = await api.config()
      applyTheme(this, config.theme)
      render(
        this.hasAttribute('data-floating') ? (
          <Floating api={api} config={config} />
        ) : (
          <Chat api={api} config={config} />
        ),
        this.root,
      )
    } catch (error) {
      render(
        <Failed
          message={
            error instanceof Error && error.name !== 'TypeError' ? error.message : t('Cannot reach the chat right now.')
          }
        />,
        this.root,
      )
    }
  }

  disconnectedCallback(): void {
    render(null, this.root)
  }
}

class ChatElement extends Widget {
  protected target(): Target | null {
    const id = this.getAttribute('template')
    return id ? { kind: 'template', id } : null
  }
}

class WorkflowElement extends Widget {
  protected target(): Target | null {
    const id = this.getAttribute('workflow')
    return id ? { kind: 'workflow', id } : null
  }
}

if (!customElements.get('heddle-chat')) {
  customElements.define('heddle-chat', ChatElement)
  customElements.define('heddle-workflow', WorkflowElement)
  const { template, workflow, token } = script?.dataset ?? {}
  if (token && (template || workflow)) {
    const element = document.createElement(template ? 'heddle-chat' : 'heddle-workflow')
    element.setAttribute(template ? 'template' : 'workflow', (template ?? workflow)!)
    element.setAttribute('token', token)
    element.setAttribute('base', ownBase)
    element.dataset.floating = ''
    const place = (): void => void document.body.append(element)
    if (document.body) place()
    else addEventListener('DOMContentLoaded', place)
  }
}
