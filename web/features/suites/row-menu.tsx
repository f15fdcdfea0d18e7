import { useNavigate } from '@tanstack/react-router'
import { Copy, Play } from 'lucide-react'
import type { NewSuite, Suite } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { MenuItem } from '#web/ui/menu.tsx'
import { RowMenu } from '#web/ui/row-menu.tsx'
import { deletionOf } from './deletion.ts'

export function SuiteMenu({ suite, mayChange }: { suite: Suite; mayChange: boolean }) {
  const navigate = useNavigate()
  const { suite_id, workflow_id, name, dataset_id, mapping, checks } = suite
  const run = useChange('runSuite', {
    stale: ['getSuite', 'searchSuites', 'listSuiteRuns'],
    failed: 'Could not run the suite',
    onDone: ({ run_id }) => void navigate({ to: `/suites/${suite_id}/runs/${run_id}` }),
  })
  const duplicate = useChange('createSuite', {
    stale: ['searchSuites'],
    done: (made) => `Copied to ${made.name}`,
    failed: 'Could not duplicate the suite',
  })
  const update = useChange('updateSuite', { stale: ['getSuite', 'searchSuites'], done: 'Saved' })
  const remove = useChange('deleteSuite', { stale: ['searchSuites'], done: `${name} was deleted` })
  const copy = { name: `Copy of ${name}`.slice(0, 200), dataset_id, mapping, checks: checks as NewSuite['checks'] }
  return (
    <RowMenu
      name={name}
      path={`/suites/${suite_id}`}
      rename={mayChange && ((next) => update.mutateAsync({ suite_id, name: next }))}
      removal={mayChange && { ...deletionOf(suite), onConfirm: () => remove.mutateAsync({ suite_id }) }}
    >
      {mayChange && (
        <>
          {dataset_id !== null && (
            <MenuItem icon={Play} onSelect={() => run.mutate({ suite_id })}>
              Run with mocked effects
            </MenuItem>
          )}
          <MenuItem icon={Copy} onSelect={() => duplicate.mutate({ workflow_id, ...copy })}>
            Duplicate
          </MenuItem>
        </>
      )}
    </RowMenu>
  )
}
