import { UsersRound } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const teams: Feature = {
  pages: [
    { path: '/teams', page: [() => import('./list.tsx'), 'TeamsPage'] },
    { path: '/teams/slug/$slug', page: [() => import('./by-slug.tsx'), 'TeamBySlugPage'] },
    { path: '/teams/$team_id', page: [() => import('./team.tsx'), 'TeamPage'] },
  ],
  nav: [{ group: 'administration', label: 'Teams', to: '/teams', icon: UsersRound }],
}
