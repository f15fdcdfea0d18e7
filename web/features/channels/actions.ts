import { type Name, useChange } from '#web/api.ts'

/** The lists of channels. */
export const staleLists: Name[] = ['listChannelConfigs', 'listChannelConfigsOfTemplate']
/** A channel and the lists with it, after a change of the channel. */
export const staleChannels: Name[] = ['getChannelConfig', ...staleLists]

export const useChannelSwitch = () =>
  useChange('updateChannelConfig', {
    stale: staleChannels,
    done: ({ enabled }) => (enabled ? 'The channel is on' : 'The channel is off'),
    failed: 'Could not switch the channel',
  })

/** The confirmation before a channel is deleted. */
export const deletion = {
  title: 'Delete this channel?',
  consequence: 'Its credentials are erased and new messages are rejected. Existing conversations are kept.',
  action: 'Delete channel',
}
