import { useChange } from '#web/api.ts'

export const useChannelSwitch = () =>
  useChange('updateChannelConfig', {
    stale: ['listChannelConfigs', 'listChannelConfigsOfTemplate'],
    done: ({ enabled }) => (enabled ? 'The channel is on' : 'The channel is off'),
    failed: 'Could not switch the channel',
  })

/** The confirmation before a channel is deleted. */
export const deletion = {
  title: 'Delete this channel?',
  consequence: 'Its credentials are erased and new messages are rejected. Existing conversations are kept.',
  action: 'Delete channel',
}
