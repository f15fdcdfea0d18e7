import { useNavigate } from '@tanstack/react-router'
import { FileInput } from 'lucide-react'
import { useState } from 'react'
import { summaryOf, withCredentials } from '#model/n8n/document'
import { type Converted, ImportFailure } from '#model/n8n/types'
import { credentialIds, optionsFrom } from '#sdk/n8n/options'
import { api, invalidate } from '#web/api.ts'
import { Step, useAttempt } from '#web/ui/attempt.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Textarea } from '#web/ui/field.tsx'
import { toast } from '#web/ui/toast.tsx'
import { t } from '#web/words/language.ts'

// Imports an n8n workflow, pasted or from a file. The browser converts it; the user reads the report before it is
// created.

const TONES = { converted: 'success', remark: 'waiting', by_hand: 'danger' } as const
const WORDS = { converted: t('converted'), remark: t('remark'), by_hand: t('by hand') }

function Report({ converted }: { converted: Converted }) {
  const { report, credentials, triggers } = converted
  const { converted: whole, remark, by_hand } = summaryOf(converted)
  return (
    <div className="flex flex-col gap-3">
      <p>
        “{converted.name}”: {whole} nodes converted, {remark} with a remark, {by_hand} to be done by hand.
      </p>
      <ul aria-label="Report" className="flex max-h-72 flex-col gap-1 overflow-y-auto">
        {report.map(({ node, outcome, why }) => (
          <li key={node}>
            <Badge tone={TONES[outcome]}>{WORDS[outcome]}</Badge> <strong>{node}</strong> {why}
          </li>
        ))}
      </ul>
      {credentials.length > 0 && (
        <p>
          Needs credentials named: {credentials.map(({ name }) => name).join(', ')}. Existing credentials with these
          names are used.
        </p>
      )}
      {triggers.length > 0 && <p>To set up: {triggers.map(({ node, about }) => `${node} (${about})`).join(', ')}.</p>}
    </div>
  )
}

function Import({ onClose }: { onClose(): void }) {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const attempt = useAttempt()
  const { work } = attempt
  const [converted, setConverted] = useState<Converted | null>(null)
  const convert = (): Promise<void> =>
    work(async () => {
      if (text.trim() === '') throw new ImportFailure('Paste a workflow or choose its file.')
      const [{ convertN8n }, { readN8n }] = await Promise.all([import('#model/n8n/convert'), import('#model/n8n/read')])
      setConverted(convertN8n(readN8n(text), await optionsFrom(api)))
    })
  const create = ({ name, definition, credentials }: Converted): Promise<void> =>
    work(async () => {
      const ids = await credentialIds(api)
      const filled = withCredentials(definition, credentials, (one) => ids.get(one.name))
      const { workflow_id } = await api.createWorkflow({ name, definition: { ...filled } })
      await invalidate('listWorkflows')
      toast.done('The workflow was created')
      onClose()
      await navigate({ to: `/workflows/${workflow_id}` })
    })
  return (
    <Step
      attempt={attempt}
      onBack={converted ? () => setConverted(null) : undefined}
      onNext={() => void (converted ? create(converted) : convert())}
      next={converted ? 'Create the workflow' : t('Convert')}
    >
      {converted ? (
        <Report converted={converted} />
      ) : (
        <>
          <Field label="Workflow of n8n" hint="As downloaded or copied from n8n.">
            <Textarea rows={8} value={text} onChange={(event) => setText(event.target.value)} />
          </Field>
          <input
            type="file"
            accept="application/json,.json"
            aria-label="File of a workflow of n8n"
            onChange={(event) => {
              const [file] = event.target.files ?? []
              if (file) void work(async () => setText(await file.text()))
            }}
          />
        </>
      )}
    </Step>
  )
}

export function ImportN8nButton() {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button icon={FileInput} onClick={() => setOpen(true)}>
        Import from n8n
      </Button>
      <Dialog open={open} onClose={() => setOpen(false)} title="Import from n8n" size="large">
        {open && <Import onClose={() => setOpen(false)} />}
      </Dialog>
    </>
  )
}
