import { useState } from 'react'
import type { ServiceImport, ServiceImportRequest } from '#sdk/types.generated'
import { api, invalidate } from '#web/api.ts'
import { Step, useAttempt } from '#web/ui/attempt.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Input, Select } from '#web/ui/field.tsx'
import { plural } from '#web/ui/format.ts'
import { toast } from '#web/ui/toast.tsx'
import { t } from '#web/words/language.ts'

// Imports an OpenAPI document, an MCP server or a piece as a service, after a preview.

type From = 'url' | 'file' | 'mcp' | 'piece' | 'program'
type Asked = { name: string; from: From; address: string; text: string; base: string; code: string; release: string }

function requestOf({ name, from, address, text, base, code, release }: Asked): ServiceImportRequest {
  switch (from) {
    case 'piece':
      return { piece: code, ...(release !== '' && { piece_version: release }) }
    case 'program':
      return { name, mcp_package: code, ...(release !== '' && { mcp_version: release }) }
    case 'mcp':
      return { name, mcp_url: address }
    default:
      return {
        name,
        ...(from === 'file' ? { document: text } : { url: address }),
        ...(base !== '' && { base_url: base }),
      }
  }
}

const isCode = (from: From): boolean => from === 'piece' || from === 'program'

function Preview({ found }: { found: ServiceImport }) {
  const { changes } = found
  return (
    <div className="flex flex-col gap-3">
      <p>
        <strong>{found.title}</strong> ({found.version})
        {!found.package && ` at ${found.base_url ?? t('an address that the document does not name')}`}:{' '}
        {plural(found.actions.length, 'action', 'actions')}
        {found.triggers.length > 0 && `, ${plural(found.triggers.length, 'trigger', 'triggers')}`}
        {found.skipped > 0 && `, ${found.skipped} left out`}.
      </p>
      {found.package?.holds_secret && (
        <p>The code of this piece is given the secret itself, because it cannot work with a placeholder.</p>
      )}
      {changes && (
        <p>
          Replaces the service with this name. Actions: {changes.added.length} new, {changes.changed.length} changed,{' '}
          {changes.removed.length} removed.
        </p>
      )}
      <ul aria-label="Actions" className="flex max-h-72 flex-col gap-1 overflow-y-auto">
        {found.actions.slice(0, 200).map(({ name, title, method, path }) => (
          <li key={name}>
            <Badge tone="neutral">{method}</Badge> <strong>{title}</strong> <code className="text-xs">{path}</code>
          </li>
        ))}
      </ul>
      {found.notes.length > 0 && (
        <p className="text-ink-2">
          Omitted: {found.notes.map(({ path, message }) => `${path} (${message})`).join(', ')}.
        </p>
      )}
      <p className="text-ink-2">
        {found.auth.length > 0
          ? `It asks for a credential: ${[...new Set(found.auth.map(({ kind }) => kind))].join(', ')}.`
          : 'It does not name a credential. You can choose one in each step.'}
      </p>
    </div>
  )
}

/** The package and its release. */
function CodeFields({ asked, change }: { asked: Asked; change(more: Partial<Asked>): void }) {
  const isPiece = asked.from === 'piece'
  return (
    <>
      <Field
        label={isPiece ? 'Piece' : 'Package'}
        hint={
          isPiece
            ? 'Its name, such as baserow or google-tasks. Its code runs in a sandbox and gets no secret.'
            : 'The name of the package in the registry. The operator of this installation defines which packages are allowed.'
        }
      >
        <Input
          placeholder={isPiece ? 'baserow' : '@example/mcp-server'}
          value={asked.code}
          onChange={(event) => change({ code: event.currentTarget.value.trim() })}
        />
      </Field>
      <Field label="Release" hint="The newest where it is empty.">
        <Input
          placeholder="1.2.3"
          value={asked.release}
          onChange={(event) => change({ release: event.currentTarget.value.trim() })}
        />
      </Field>
    </>
  )
}

export function ImportDialog({ onClose }: { onClose(): void }) {
  const [asked, setAsked] = useState<Asked>({
    name: '',
    from: 'url',
    address: '',
    text: '',
    base: '',
    code: '',
    release: '',
  })
  const attempt = useAttempt()
  const { work } = attempt
  const [found, setFound] = useState<ServiceImport | null>(null)
  const change = (more: Partial<Asked>): void => setAsked((before) => ({ ...before, ...more }))
  const look = (): Promise<void> => work(async () => setFound(await api.previewServiceImport(requestOf(asked))))
  const take = (): Promise<void> =>
    work(async () => {
      const { title } = await api.importService({ ...requestOf(asked), ...(found?.changes && { replace: true }) })
      await invalidate('listServices', 'getService')
      toast.done(`${title} was imported`)
      onClose()
    })
  return (
    <Dialog
      open
      onClose={onClose}
      title="Import service"
      description="An OpenAPI document, an MCP server or a piece. Each operation, tool or action becomes an action for workflows."
      size="large"
    >
      <Step
        attempt={attempt}
        onBack={found ? () => setFound(null) : undefined}
        onNext={() => void (found ? take() : look())}
        next={found ? (found.changes ? t('Replace') : t('Import')) : t('Preview')}
      >
        {found ? (
          <Preview found={found} />
        ) : (
          <>
            {asked.from !== 'piece' && (
              <Field label="Name" hint="Lower case letters, digits and _. Workflows call it custom.NAME.">
                <Input
                  value={asked.name}
                  maxLength={40}
                  onChange={(event) => change({ name: event.currentTarget.value })}
                />
              </Field>
            )}
            <Field label="From">
              <Select
                value={asked.from}
                onChange={(event) => change({ from: event.currentTarget.value as From })}
                options={[
                  { value: 'url', label: 'The address of an OpenAPI document' },
                  { value: 'file', label: 'A file with an OpenAPI document' },
                  { value: 'mcp', label: 'An MCP server' },
                  { value: 'program', label: 'A package that is an MCP server' },
                  { value: 'piece', label: 'A piece of Activepieces' },
                ]}
              />
            </Field>
            {isCode(asked.from) && <CodeFields asked={asked} change={change} />}
            {isCode(asked.from) ? null : asked.from === 'file' ? (
              <input
                type="file"
                accept=".json,.yaml,.yml"
                aria-label="OpenAPI document"
                onChange={(event) => {
                  const [file] = event.target.files ?? []
                  if (file) void work(async () => change({ text: await file.text() }))
                }}
              />
            ) : (
              <Field label="Address">
                <Input
                  type="url"
                  placeholder="https://api.example.com/openapi.json"
                  value={asked.address}
                  onChange={(event) => change({ address: event.currentTarget.value })}
                />
              </Field>
            )}
            {(asked.from === 'url' || asked.from === 'file') && (
              <Field label="Server" hint="If the document has none, or you want another one.">
                <Input
                  type="url"
                  value={asked.base}
                  onChange={(event) => change({ base: event.currentTarget.value })}
                />
              </Field>
            )}
          </>
        )}
      </Step>
    </Dialog>
  )
}
