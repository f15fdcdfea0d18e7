import type { ReactNode } from 'react'

export const FieldProblem = ({ children }: { children: ReactNode }) => <p className="text-xs text-danger">{children}</p>
