import { MessageCircleQuestion } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const questions: Feature = {
  pages: [{ path: '/questions', page: [() => import('./list.tsx'), 'QuestionsPage'] }],
  nav: [{ group: 'work', label: 'Questions', to: '/questions', icon: MessageCircleQuestion, count: 'questions' }],
}
