import type { Workflow } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { Checkbox } from '#web/ui/field.tsx'
import { Card, Section } from '#web/ui/page.tsx'

/** Whether assistants can run the workflow through the Model Context Protocol. */
export function McpTool({ workflow }: { workflow: Workflow }) {
  const update = useChange('updateWorkflow', {
    stale: ['getWorkflow', 'listWorkflows'],
    done: 'Saved',
    failed: 'Could not save it',
  })
  return (
    <Section
      title="Tool for assistants"
      description="MCP clients find it at /mcp, with an API key of a person who may run it."
    >
      <Card className="max-w-xl">
        <Checkbox
          label="Offer it as a tool"
          readOnly={update.isPending}
          checked={workflow.settings.mcp_tool ?? false}
          onCheckedChange={(on) =>
            update.mutate({ workflow_id: workflow.workflow_id, settings: { mcp_tool: on ? true : null } })
          }
        />
      </Card>
    </Section>
  )
}
