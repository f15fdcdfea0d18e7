import { Bot } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const templates: Feature = {
  pages: [
    { path: '/templates', page: [() => import('./list.tsx'), 'TemplatesPage'] },
    { path: '/templates/new', page: [() => import('./new.tsx'), 'NewTemplatePage'] },
    { path: '/templates/$template_id', page: [() => import('./settings.tsx'), 'TemplatePage'] },
    { path: '/templates/$template_id/widget', page: [() => import('./widget.tsx'), 'WidgetPage'] },
    { path: '/templates/$template_id/channels', page: [() => import('./channels.tsx'), 'TemplateChannelsPage'] },
  ],
  nav: [{ group: 'conversations', label: 'Templates', to: '/templates', icon: Bot }],
}
