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

// A workflow as a file with names instead of the ids of its resources, to move it from one workspace to another.

const fileName = (name: string): string =>
  `${
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'workflow'
  }.json`

type ExportedDocument = WorkflowImportRequest['document']

const SEVERAL = 'workflows/1'

/** Saves one workflow as its document; several workflows as one file that Import can read. */
export async function saveExport(workflows: Workflow[]): Promise<void> {
  const documents: ExportedDocument[] = []
  for (const { workflow_id } of workflows) {
    const { document, warnings } = await api.exportWorkflow({ workflow_id })
    documents.push(document)
    for (const { message } of warnings ?? []) toast.tell(message)
  }
  const [first] = documents
  const content = documents.length === 1 ? first : { heddle: SEVERAL, workflows: documents }
  const name = documents.length === 1 ? fileName(first!.name) : 'workflows.json'
  saveFile(new Blob([`${JSON.stringify(content, null, 2)}\n`], { type: 'application/json' }), name)
}

/** Returns the documents in a file of one or several workflows. */
export function documentsIn(file: unknown): ExportedDocument[] {
  const { heddle, workflows } = (file ?? {}) as { heddle?: unknown; workflows?: unknown }
  return heddle === SEVERAL && Array.isArray(workflows) ? workflows : [file as ExportedDocument]
}

type ImportedWorkflow = Awaited<ReturnType<typeof api.importWorkflow>>

/**
 * Imports documents. A workflow can call another one in the same file, so refused documents are retried as long as
 * others succeed.
 */
async function importAll(documents: ExportedDocument[]): Promise<{ made: ImportedWorkflow[]; refused: unknown }> {
  const made: ImportedWorkflow[] = []
  let left = documents
  while (left.length > 0) {
    const again: ExportedDocument[] = []
    let refused: unknown
    for (const document of left) {
      try {
        made.push(await api.importWorkflow({ document }))
      } catch (error) {
        refused = error
        again.push(document)
      }
    }
    if (again.length === left.length) return { made, refused }
    left = again
  }
  return { made, refused: undefined }
}

export function ExportButton({ workflow }: { workflow: Workflow }) {
  const [pending, setPending] = useState(false)
  const save = async (): Promise<void> => {
    setPending(true)
    try {
      await saveExport([workflow])
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

/**
 * Reads a file of `Export` and creates a workflow, or the next version of `into`. Missing resources are listed by name.
 */
export function ImportButton({ into }: { into?: Workflow }) {
  const input = useRef<HTMLInputElement>(null)
  const navigate = useNavigate()
  const [pending, setPending] = useState(false)
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const readVersion = async ({ workflow_id }: Workflow, [document, ...more]: ExportedDocument[]): Promise<void> => {
    if (!document || more.length > 0)
      throw new Error('This file holds several workflows. Import it in the list of workflows.')
    const made = await api.importWorkflow({ document, workflow_id, activate: false })
    await invalidate('listWorkflows', 'getWorkflow', 'listVersions')
    for (const { message } of made.warnings ?? []) toast.tell(message)
    toast.done('Imported as a version. Activate it under Versions.')
    await navigate({ to: `/workflows/${workflow_id}/versions` })
  }
  const readNew = async (documents: ExportedDocument[]): Promise<void> => {
    const { made, refused } = await importAll(documents)
    await invalidate('listWorkflows')
    for (const { message } of made.flatMap(({ warnings }) => warnings ?? [])) toast.tell(message)
    if (made.length === 1) toast.done('The workflow was imported')
    else if (made.length > 1) toast.done(`${made.length} workflows were imported`)
    if (refused) throw refused
    if (documents.length === 1) await navigate({ to: `/workflows/${made[0]!.workflow_id}` })
  }
  const read = async (file: File): Promise<void> => {
    setPending(true)
    try {
      const documents = documentsIn(JSON.parse(await file.text()))
      if (into) await readVersion(into, documents)
      else await readNew(documents)
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
    description="The file contains the names of credentials, connections, datasets, channels and other workflows instead of their ids. Import it in another workspace that has the same names."
  >
    <Card className="flex max-w-xl flex-wrap gap-3">
      {workflow.active_version_id !== null && <ExportButton workflow={workflow} />}
      <ImportButton into={workflow} />
    </Card>
  </Section>
)
