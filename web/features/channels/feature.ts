import { Radio } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const channels: Feature = {
  pages: [
    { path: '/channels', page: [() => import('./list.tsx'), 'ChannelsPage'] },
    { path: '/channels/new', page: [() => import('./new.tsx'), 'NewChannelPage'] },
    { path: '/channels/$config_id', page: [() => import('./channel.tsx'), 'ChannelPage'] },
  ],
  nav: [{ group: 'conversations', label: 'Channels', to: '/channels', icon: Radio }],
}
