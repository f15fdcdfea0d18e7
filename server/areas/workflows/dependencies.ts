import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { Proofs } from './activation.ts'
import type { DefinitionCheckDependencies, makeDefinitionCheck } from './definition-check.ts'
import type { SystemWorkflow } from './system.ts'

export type SystemWorkflows = ReadonlyMap<string, SystemWorkflow>

export type WorkflowDependencies = DefinitionCheckDependencies & {
  /** Further work in the transaction that deletes a workflow, such as pausing jobs. */
  onDeleted: ((tx: Tx, workspaceId: string, workflowId: string) => Promise<void>)[]
  /** How long the service keeps ended executions. A workflow cannot request more. */
  retentionDays: number
  /** What a version must prove before it is activated. */
  proofs: Proofs
}

/** The dependencies of the operations on workflows and versions. */
export type Deps = WorkflowDependencies & { checkDefinition: ReturnType<typeof makeDefinitionCheck> }

export type ById = { workflow_id: string }

export function refuseSystem(system: SystemWorkflows, workflowId: string): void {
  if (system.has(workflowId))
    throw problem('forbidden', 'A system workflow is part of the program and cannot be changed.')
}
