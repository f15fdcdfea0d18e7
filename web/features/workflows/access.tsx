import type { Workflow } from '#sdk/types.generated'
import { Empty } from '#web/ui/states.tsx'
import { EmbedTokens } from './embed-tokens.tsx'
import { Members } from './members.tsx'
import { mayUse, type WorkflowRole } from './role.ts'
import { WebhookTokens } from './webhook-tokens.tsx'
import { WorkflowPage } from './workflow-page.tsx'

/** Who may use the workflow: people, and programs with a token. */
export const AccessPage = () => (
  <WorkflowPage section="Access">{(workflow, role) => <Access workflow={workflow} role={role} />}</WorkflowPage>
)

function Access({ workflow, role }: { workflow: Workflow; role: WorkflowRole }) {
  if (workflow.kind === 'system') {
    return (
      <Empty title="Available to every workspace member">
        A built-in workflow has no members and no tokens. Each person sees their own runs.
      </Empty>
    )
  }
  return (
    <>
      <Members workflow={workflow} role={role} />
      {mayUse(role) && (
        <>
          <WebhookTokens workflow={workflow} role={role} />
          <EmbedTokens workflow={workflow} role={role} />
        </>
      )}
    </>
  )
}
