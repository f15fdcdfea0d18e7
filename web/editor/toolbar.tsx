import { Link } from '@tanstack/react-router'
import {
  ChevronRight,
  CircleAlert,
  CircleCheck,
  History as HistoryIcon,
  MessageSquare,
  Play,
  Redo2,
  Save,
  TriangleAlert,
  Undo2,
} from 'lucide-react'
import type { ReactNode } from 'react'
import type { Workflow } from '#sdk/types.generated'
import { useVersion } from '#web/features/workflows/versions-of.ts'
import { Badge } from '#web/ui/badge.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { plural } from '#web/ui/format.ts'
import { useOpenComments } from './comments/use-comments.ts'
import { Rename } from './rename.tsx'
import { EffectsChoice } from './run/effects.tsx'
import { useEditor, useEditorStore } from './store.ts'
import { useProblems } from './use-problems.ts'

type Props = {
  workflow: Workflow
  faces: ReactNode
  kept: boolean
  mayRun: boolean
  starting: boolean
  onSave(): void
  onRun(): void
}

export function Toolbar({ workflow, faces, kept, mayRun, starting, onSave, onRun }: Props) {
  const store = useEditorStore()
  const { past, future } = useEditor((state) => state.history)
  const readOnly = useEditor((state) => state.readOnly)
  const comparing = useEditor((state) => state.comparison !== null)
  return (
    <header className="flex h-12 shrink-0 items-center gap-2 border-b border-line bg-surface px-3">
      <nav aria-label="Breadcrumb" className="flex min-w-0 items-center gap-1 text-ink-2">
        <Link to="/workflows" className="shrink-0 hover:text-ink hover:underline max-md:hidden">
          Workflows
        </Link>
        <ChevronRight aria-hidden className="size-3.5 shrink-0 max-md:hidden" />
        <Link to={`/workflows/${workflow.workflow_id}` as string} className="truncate hover:underline">
          <h1 className="truncate font-semibold text-ink">{workflow.name}</h1>
        </Link>
      </nav>
      {!readOnly && <Rename workflow={workflow} />}
      <SavedState kept={kept} mayRun={mayRun} />
      <LiveVersion workflow={workflow} />
      <span className="ml-auto flex items-center gap-1.5">
        {faces}
        <ProblemsButton />
        {!readOnly && (
          <>
            <IconButton
              size="small"
              icon={Undo2}
              label="Undo"
              disabled={past.length === 0 || comparing}
              onClick={store.undo}
            />
            <IconButton
              size="small"
              icon={Redo2}
              label="Redo"
              disabled={future.length === 0 || comparing}
              onClick={store.redo}
            />
          </>
        )}
        <CommentsButton workflow={workflow} />
        <VersionsButton />
        {mayRun && !readOnly && !comparing && <EffectsChoice />}
        {mayRun && (
          <Button icon={Play} pending={starting} onClick={onRun} className="max-sm:px-2">
            <span className="max-sm:sr-only">Run</span>
          </Button>
        )}
        {!readOnly && (
          <Button look="primary" icon={Save} onClick={onSave} className="max-sm:px-2">
            <span className="max-sm:sr-only">Save</span>
          </Button>
        )}
      </span>
    </header>
  )
}

function SavedState({ kept, mayRun }: { kept: boolean; mayRun: boolean }) {
  const dirty = useEditor((state) => state.dirty)
  const base = useEditor((state) => state.base)
  const readOnly = useEditor((state) => state.readOnly)
  const words = readOnly
    ? mayRun
      ? 'You can view it and run it. Only its owner can edit it'
      : 'You can view it. Only its owner can edit it'
    : !kept && dirty
      ? 'Not saved. This browser cannot store drafts'
      : dirty
        ? 'Draft stored on this device'
        : base
          ? `Version ${base.number}`
          : 'Not saved yet'
  return (
    <span data-testid="saved-state" className="truncate text-xs text-ink-3 max-lg:hidden">
      {words}
    </span>
  )
}

/** Shows which version new executions use, and whether it is the open version. */
function LiveVersion({ workflow }: { workflow: Workflow }) {
  const { version } = useVersion(workflow.workflow_id, workflow.active_version_id)
  const base = useEditor((state) => state.base)
  const dirty = useEditor((state) => state.dirty)
  if (workflow.kind !== 'user') return null
  const isThis = version !== undefined && version.version_id === base?.version_id && !dirty
  if (workflow.active_version_id === null && !base) return null
  return (
    <span data-testid="live-version" className="shrink-0 max-lg:hidden">
      <Badge tone={isThis ? 'success' : 'neutral'}>
        {workflow.active_version_id === null
          ? 'Nothing is live'
          : version === undefined
            ? 'Live'
            : isThis
              ? 'Live'
              : `Live: version ${version.number}`}
      </Badge>
    </span>
  )
}

function ProblemsButton() {
  const store = useEditorStore()
  const open = useEditor((state) => state.panel === 'problems')
  const problems = useProblems()
  const errors = problems.filter(({ level }) => level === 'error').length
  const warnings = problems.length - errors
  const Icon = errors > 0 ? CircleAlert : warnings > 0 ? TriangleAlert : CircleCheck
  const words =
    errors > 0
      ? plural(errors, 'problem', 'problems')
      : warnings > 0
        ? plural(warnings, 'warning', 'warnings')
        : 'No problems'
  return (
    <button
      type="button"
      aria-expanded={open}
      onClick={() => store.set({ panel: open ? null : 'problems' })}
      className="inline-flex h-7 items-center gap-1.5 rounded-md px-2 text-xs whitespace-nowrap text-ink-2 hover:bg-hover"
    >
      <Icon
        aria-hidden
        className={errors > 0 ? 'size-4 text-danger' : warnings > 0 ? 'size-4 text-waiting' : 'size-4 text-success'}
      />
      <span className="max-sm:sr-only">{words}</span>
    </button>
  )
}

function CommentsButton({ workflow }: { workflow: Workflow }) {
  const store = useEditorStore()
  const open = useEditor((state) => state.panel === 'comments')
  const comments = useOpenComments(workflow)
  if (workflow.kind !== 'user') return null
  const count = comments.length
  return (
    <button
      type="button"
      aria-expanded={open}
      onClick={() => store.set({ panel: open ? null : 'comments', about: null, comparison: null })}
      className="inline-flex h-7 items-center gap-1 rounded-md px-1.5 text-xs text-ink-2 hover:bg-hover"
    >
      <MessageSquare aria-hidden className="size-4" />
      <span className="sr-only">Comments</span>
      {count > 0 && <span>{count}</span>}
    </button>
  )
}

function VersionsButton() {
  const store = useEditorStore()
  const open = useEditor((state) => state.panel === 'versions')
  return (
    <IconButton
      size="small"
      icon={HistoryIcon}
      label="Versions"
      aria-expanded={open}
      onClick={() => store.set(open ? { panel: null, comparison: null } : { panel: 'versions' })}
    />
  )
}
