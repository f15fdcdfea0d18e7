import type { ReactNode } from 'react'

export const FieldProblem = ({ children }: { children: ReactNode }) => (
  <p className="text-xs text-danger first-letter:uppercase">{children}</p>
)

export const FieldWarning = ({ children }: { children: ReactNode }) => (
  <p className="text-xs text-waiting first-letter:uppercase">{children}</p>
)
