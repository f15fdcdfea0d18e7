import { useNavigate } from '@tanstack/react-router'
import { Bug, FileCheck2 } from 'lucide-react'
import { useState } from 'react'
import type { Execution } from '#sdk/types.generated'
import { api } from '#web/api.ts'
import { isLarge } from '#web/editor/document/value.ts'
import { keepPins } from '#web/editor/run/pins.ts'
import { keepSample } from '#web/editor/run/sample.ts'
import { Button } from '#web/ui/button.tsx'
import { saveFile } from '#web/ui/download.ts'
import { toast } from '#web/ui/toast.tsx'

/** Returns the outputs of an execution that are small enough to be pinned. */
export const pinsOf = (execution: Pick<Execution, 'nodes'>): Record<string, unknown> =>
  Object.fromEntries(
    execution.nodes
      .filter(({ status, output }) => status === 'succeeded' && output !== undefined && !isLarge(output))
      .map(({ node_id, output }) => [node_id, output]),
  )

/**
 * Opens the editor with the data of this execution: its input is the sample, and the outputs of its steps are pinned.
 */
export function DebugButton({ execution, workflowId }: { execution: Execution; workflowId: string }) {
  const navigate = useNavigate()
  const debug = (): void => {
    keepPins(workflowId, pinsOf(execution))
    keepSample(workflowId, execution.input)
    void navigate({
      to: `/workflows/${workflowId}/editor`,
      search: { execution: execution.execution_id } as never,
    })
  }
  return (
    <Button icon={Bug} onClick={debug}>
      Debug in editor
    </Button>
  )
}

/** Downloads a signed document that `heddle verify` checks without this service. */
export function ReceiptButton({ execution_id }: { execution_id: string }) {
  const [pending, setPending] = useState(false)
  const save = async (): Promise<void> => {
    setPending(true)
    try {
      const receipt = await api.getExecutionReceipt({ execution_id })
      const file = new Blob([JSON.stringify(receipt, null, 2)], { type: 'application/json' })
      saveFile(file, `receipt-${execution_id}.json`)
    } catch (error) {
      toast.failed('Could not make the receipt', error)
    } finally {
      setPending(false)
    }
  }
  return (
    <Button icon={FileCheck2} pending={pending} onClick={() => void save()}>
      Receipt
    </Button>
  )
}
