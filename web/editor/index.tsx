import { WorkflowPage } from '#web/features/workflows/workflow-page.tsx'
import { Empty } from '#web/ui/states.tsx'

/** The editor tab of a workflow. */
export function EditorPage() {
  return <WorkflowPage section="Editor">{() => <Empty title="The editor is not here yet" />}</WorkflowPage>
}
