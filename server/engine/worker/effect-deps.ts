import type { JsonObject } from '#model/definition'
import type { Logger } from '#platform/log'
import type { AreaCalls } from '../area-calls.ts'
import type { ItemRow } from '../journal/batch.ts'
import type { ChildEnd, EnginePorts, Start, Started } from '../ports.ts'
import type { Live } from './live-types.ts'
import type { PlatformRetry } from './platform-retry.ts'

export type EffectDeps = {
  ports: EnginePorts
  log: Logger
  platformRetry: PlatformRetry
  areaCalls: AreaCalls
  /** Milliseconds of the database clock. */
  clock(): number
  readItems(live: Live, path: string, after: number): Promise<ItemRow[]>
  /** Starts a child. The same id started twice is one execution. */
  startChild(
    child: Start & {
      executionId: string
      parent?: { executionId: string; node: string }
      depth: number
      vars?: JsonObject | undefined
    },
  ): Promise<Started>
  /** Finds a child that was started before, and how it ended, if it has ended. */
  findChild(workspaceId: string, executionId: string): Promise<{ ended: ChildEnd | null } | undefined>
  cancelChild(workspaceId: string, executionId: string): Promise<void>
  /** Cancels the live children of nodes whose paths start with `path`. */
  cancelChildrenUnder(workspaceId: string, executionId: string, path: string): Promise<void>
  /** Checks whether an execution has ended or no longer exists. */
  hasEnded(workspaceId: string, executionId: string): Promise<boolean>
}
