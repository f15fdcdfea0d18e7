import { ShieldAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useRole } from '#web/session.tsx'
import { Page } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'

export function OperatorsOnly({ title, children }: { title: string; children: ReactNode }) {
  const { operator } = useRole()
  if (operator) return children
  return (
    <Page title={title}>
      <Empty icon={ShieldAlert} title="This page is for operators of the installation">
        Operators are named in the setting HEDDLE_OPERATORS.
      </Empty>
    </Page>
  )
}
