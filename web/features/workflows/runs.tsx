import { useList } from '#web/api.ts'
import { Loaded } from '#web/ui/states.tsx'
import { RunTable } from '../runs/run-table.tsx'
import { useWorkflowId, WorkflowPage } from './workflow-page.tsx'

export const WorkflowRunsPage = () => <WorkflowPage section="Runs">{() => <Runs />}</WorkflowPage>

function Runs() {
  const runs = useList('listExecutions', { workflow_id: useWorkflowId() })
  return (
    <Loaded of={runs} what="the runs">
      {(rows) => <RunTable rows={rows} more={runs.more} withoutWorkflow />}
    </Loaded>
  )
}
