import { useNavigate } from '@tanstack/react-router'
import { Download, Upload } from 'lucide-react'
import { useRef, useState } from 'react'
import { HeddleProblem } from '#sdk/problems'
import type { Workflow, WorkflowImportRequest } from '#sdk/types.generated'
import { api, invalidate } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { saveFile } from '#web/ui/download.ts'
import { Card, Section } from '#web/ui/page.tsx'
import { toast } from '#web/ui/toast.tsx'

// A workflow as a file that names what it uses instead of its ids, so that it goes from one workspace to another.

const fileName = (name: string): string =>
  `${
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'workflow'
  }.json`

export function ExportButton({ workflow }: { workflow: Workflow }) {
  const [pending, setPending] = useState(false)
  const save = async (): Promise<void> => {
    setPending(true)
    try {
      const { document, warnings } = await api.exportWorkflow({ workflow_id: workflow.workflow_id })
      const text = `${JSON.stringify(document, null, 2)}\n`
      saveFile(new Blob([text], { type: 'application/json' }), fileName(workflow.name))
      for (const { message } of warnings ?? []) toast.tell(message)
    } catch (error) {
      toast.failed('Could not export the workflow', error)
    } finally {
      setPending(false)
    }
  }
  return (
    <Button icon={Download} pending={pending} onClick={() => void save()}>
      Export
    </Button>
  )
}

type Told = { path: string; message: string }
type Refusal = { title: string; details: Told[] }

const refusalOf = (error: unknown): Refusal =>
  error instanceof HeddleProblem
    ? { title: error.message, details: [...error.errors] }
    : { title: error instanceof Error ? error.message : String(error), details: [] }

/** Reads a file of `Export` and makes a workflow of it, or the next version of `into`. What is missing is listed by name. */
export function ImportButton({ into }: { into?: Workflow }) {
  const input = useRef<HTMLInputElement>(null)
  const navigate = useNavigate()
  const [pending, setPending] = useState(false)
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const read = async (file: File): Promise<void> => {
    setPending(true)
    try {
      const document = JSON.parse(await file.text()) as WorkflowImportRequest['document']
      const made = await api.importWorkflow({
        document,
        ...(into && { workflow_id: into.workflow_id, activate: false }),
      })
      await invalidate('listWorkflows', 'getWorkflow', 'listVersions')
      for (const { message } of made.warnings ?? []) toast.tell(message)
      toast.done(into ? 'Imported as a version. Activate it under Versions.' : 'The workflow was imported')
      await navigate({ to: `/workflows/${made.workflow_id}${into ? '/versions' : ''}` })
    } catch (error) {
      setRefusal(error instanceof SyntaxError ? { title: `${file.name} is not JSON.`, details: [] } : refusalOf(error))
    } finally {
      setPending(false)
    }
  }
  return (
    <>
      <Button icon={Upload} pending={pending} onClick={() => input.current?.click()}>
        Import
      </Button>
      <input
        ref={input}
        type="file"
        accept="application/json,.json"
        className="hidden"
        aria-label="File of a workflow"
        onChange={(event) => {
          const [file] = event.target.files ?? []
          event.target.value = ''
          if (file) void read(file)
        }}
      />
      <Dialog open={refusal !== null} onClose={() => setRefusal(null)} title="Nothing was imported" size="medium">
        <div className="flex flex-col gap-3">
          <p>{refusal?.title}</p>
          {refusal !== null && refusal.details.length > 0 && (
            <ul aria-label="What is missing" className="flex max-h-80 list-disc flex-col gap-1 overflow-y-auto pl-5">
              {refusal.details.map(({ path, message }) => (
                <li key={`${path} ${message}`}>
                  {message} <code className="font-mono text-xs break-all text-ink-2">{path}</code>
                </li>
              ))}
            </ul>
          )}
          <div className="flex justify-end">
            <Button look="primary" onClick={() => setRefusal(null)}>
              Close
            </Button>
          </div>
        </div>
      </Dialog>
    </>
  )
}

export const Portable = ({ workflow }: { workflow: Workflow }) => (
  <Section
    title="Export and import"
    description="As a file that names credentials, connections, datasets, channels and other workflows instead of their ids. Import it in another workspace that has things of the same names."
  >
    <Card className="flex max-w-xl flex-wrap gap-3">
      {workflow.active_version_id !== null && <ExportButton workflow={workflow} />}
      <ImportButton into={workflow} />
    </Card>
  </Section>
)
