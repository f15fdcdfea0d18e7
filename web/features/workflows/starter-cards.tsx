import { useNavigate } from '@tanstack/react-router'
import { ClipboardCheck, FileQuestion, type LucideIcon, Sigma, SquareDashed } from 'lucide-react'
import { useChange } from '#web/api.ts'
import { t } from '#web/words/language.ts'
import { changeOffered } from './gallery/texts.ts'
import { blank, type Starter, starters } from './starters.ts'

const icons: Record<string, LucideIcon> = {
  'expense-approval': ClipboardCheck,
  'ask-a-question': FileQuestion,
  'summarise-orders': Sigma,
}

/** One click creates the workflow and opens it, ready to run. */
export function StarterCards({ withBlank = false }: { withBlank?: boolean }) {
  const navigate = useNavigate()
  const create = useChange('createWorkflow', { stale: ['listWorkflows'], failed: 'Could not create the workflow' })
  const begin = async (starter: Starter): Promise<void> => {
    // The creation reloads the list, which may unmount the cards: the code below must not depend on them.
    const { name, description, definition } = changeOffered(starter, t)
    const made = await create
      .mutateAsync({
        name: starter === blank ? 'New workflow' : name,
        description: starter === blank ? null : description,
        ...(starter !== blank && { definition }),
      })
      .catch(() => undefined)
    if (!made) return
    await navigate(
      starter === blank
        ? { to: `/workflows/${made.workflow_id}/editor` }
        : { to: `/workflows/${made.workflow_id}`, search: { run: 'yes' } as never },
    )
  }
  return (
    <ul className="grid gap-3 sm:grid-cols-2">
      {[...starters, ...(withBlank ? [blank] : [])].map((starter) => {
        const { name, description } = changeOffered(starter, t)
        const Icon = icons[starter.id] ?? SquareDashed
        return (
          <li key={starter.id}>
            <button
              type="button"
              disabled={create.isPending}
              onClick={() => void begin(starter)}
              className="flex h-full w-full items-start gap-3 rounded-lg border border-line bg-surface p-4 text-left hover:border-accent hover:bg-hover disabled:opacity-60"
            >
              <span className="grid size-9 shrink-0 place-items-center rounded-md bg-accent-soft text-accent-strong">
                <Icon aria-hidden className="size-5" />
              </span>
              <span>
                <span className="block font-medium">{name}</span>
                <span className="mt-0.5 block text-ink-2">{description}</span>
              </span>
            </button>
          </li>
        )
      })}
    </ul>
  )
}
