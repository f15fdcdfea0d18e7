import type { Feature } from '../feature.ts'

export const replays: Feature = {
  pages: [
    { path: '/workflows/$workflow_id/replays', page: [() => import('./list.tsx'), 'ReplaysPage'] },
    { path: '/replays/$replay_id', page: [() => import('./report.tsx'), 'ReplayPage'] },
  ],
}
