import type { LucideIcon } from 'lucide-react'

export type Entry = { key: string; group: string; label: string; hint?: string; icon: LucideIcon } & (
  | { to: string }
  | { act(): void }
)
