import { BookOpen } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const knowledge: Feature = {
  pages: [
    { path: '/knowledge', page: [() => import('./list.tsx'), 'KnowledgePage'] },
    { path: '/knowledge/$knowledge_id', page: [() => import('./base.tsx'), 'BasePage'] },
    { path: '/knowledge/$knowledge_id/documents/$document_id', page: [() => import('./document.tsx'), 'DocumentPage'] },
  ],
  nav: [{ group: 'data', label: 'Knowledge', to: '/knowledge', icon: BookOpen }],
}
