// Two keys open any place: g, then the letter of the place. `?` shows the list.

export const shortcutPages: Record<string, { label: string; to: string }> = {
  h: { label: 'Home', to: '/' },
  w: { label: 'Workflows', to: '/workflows' },
  r: { label: 'Runs', to: '/runs' },
  a: { label: 'Approvals', to: '/approvals' },
  n: { label: 'Notifications', to: '/notifications' },
}
