// Maps nodes of n8n to actions of services. Data only: services.ts reads it.
//
// An argument names the parameter that fills it: `text` is the parameter of that name, `a|b` is the first parameter
// that is set, `a.b` is a parameter inside another one. `name[]` is a text with commas that becomes a list, `#name` a
// number, `?name` a boolean, `{}name` JSON as a text, `@name` the file of the item that the parameter names, `'text`
// the text itself.

import { MORE_SERVICES } from './service-table-more.ts'
import type { ServiceOf } from './service-types.ts'

const channel = 'channelId|channel|user'
const chat = { chat_id: 'chatId' }
const caption = { caption: 'additionalFields.caption', parse_mode: 'additionalFields.parse_mode' }
const MAIL = {
  to: 'sendTo[]|toList[]|toRecipients[]',
  subject: 'subject',
  cc: 'options.ccList[]|additionalFields.ccRecipients[]',
  bcc: 'options.bccList[]|additionalFields.bccRecipients[]',
}
const REPO = { owner: 'owner', repo: 'repository' }

export const SERVICES: Record<string, ServiceOf> = {
  slack: {
    service: 'slack',
    resource: 'message',
    operation: 'post',
    actions: {
      'message:post': {
        action: 'send_message',
        args: { channel, text: 'text', thread_ts: 'otherOptions.thread_ts.replyValues.thread_ts' },
      },
      'message:update': { action: 'update_message', args: { channel, ts: 'ts', text: 'text|updateFields.text' } },
      'message:delete': { action: 'delete_message', args: { channel, ts: 'timestamp' } },
      'message:getPermalink': { action: 'get_permalink', args: { channel, ts: 'timestamp' } },
      'message:search': { action: 'search_messages', args: { query: 'query' }, list: 'items' },
      'channel:get': { action: 'get_channel', args: { channel } },
      'channel:getAll': { action: 'list_channels', args: {}, list: 'items' },
      'channel:create': { action: 'create_channel', args: { name: 'channelId|channel' } },
      'channel:history': {
        action: 'list_messages',
        args: { channel, oldest: 'filters.oldest', latest: 'filters.latest' },
        list: 'items',
      },
      'channel:replies': { action: 'list_replies', args: { channel, ts: 'ts' }, list: 'items' },
      'channel:invite': { action: 'invite_to_channel', args: { channel, users: 'userIds[]' } },
      'channel:join': { action: 'join_channel', args: { channel } },
      'channel:archive': { action: 'archive_channel', args: { channel } },
      'user:info': { action: 'get_user', args: { user: 'user' } },
      'user:getAll': { action: 'list_users', args: {}, list: 'items' },
      'reaction:add': { action: 'add_reaction', args: { channel, ts: 'timestamp', name: 'name' } },
      'reaction:remove': { action: 'remove_reaction', args: { channel, ts: 'timestamp', name: 'name' } },
    },
  },
  telegram: {
    service: 'telegram',
    resource: 'message',
    operation: 'sendMessage',
    actions: {
      'message:sendMessage': {
        action: 'send_message',
        args: {
          ...chat,
          text: 'text',
          parse_mode: 'additionalFields.parse_mode',
          disable_notification: '?additionalFields.disable_notification',
        },
      },
      'message:editMessageText': {
        action: 'edit_message',
        args: { ...chat, message_id: '#messageId', text: 'text', parse_mode: 'additionalFields.parse_mode' },
      },
      'message:deleteMessage': { action: 'delete_message', args: { ...chat, message_id: '#messageId' } },
      'message:sendChatAction': { action: 'send_chat_action', args: { ...chat, action: 'action' } },
      'message:sendPhoto': { action: 'send_photo', args: { ...chat, photo: '@binaryPropertyName|file', ...caption } },
      'message:sendDocument': {
        action: 'send_document',
        args: { ...chat, document: '@binaryPropertyName|file', ...caption },
      },
      'message:sendAudio': {
        action: 'send_audio',
        args: { ...chat, audio: '@binaryPropertyName|file', caption: 'additionalFields.caption' },
      },
      'message:sendVideo': {
        action: 'send_video',
        args: { ...chat, video: '@binaryPropertyName|file', caption: 'additionalFields.caption' },
      },
      'message:sendLocation': {
        action: 'send_location',
        args: { ...chat, latitude: '#latitude', longitude: '#longitude' },
      },
      'message:pinChatMessage': { action: 'pin_message', args: { ...chat, message_id: '#messageId' } },
      'chat:get': { action: 'get_chat', args: { ...chat } },
      'chat:member': { action: 'get_chat_member', args: { ...chat, user_id: '#userId' } },
      'callback:answerQuery': {
        action: 'answer_callback_query',
        args: { callback_query_id: 'queryId', text: 'additionalFields.text' },
      },
    },
  },
  gmail: {
    service: 'gmail',
    resource: 'message',
    operation: 'send',
    actions: {
      'message:addLabels': { action: 'change_labels', args: { message_id: 'messageId', add: 'labelIds[]' } },
      'message:removeLabels': { action: 'change_labels', args: { message_id: 'messageId', remove: 'labelIds[]' } },
      'message:markAsRead': { action: 'mark_read', args: { message_id: 'messageId' } },
      'message:markAsUnread': { action: 'mark_unread', args: { message_id: 'messageId' } },
      'message:delete': { action: 'trash_message', args: { message_id: 'messageId' } },
      'message:get': { action: 'get_message', args: { message_id: 'messageId' } },
      'thread:get': { action: 'get_thread', args: { thread_id: 'threadId' } },
      'thread:getAll': { action: 'list_threads', args: { search: 'filters.q', max_items: '#limit' }, list: 'items' },
      'thread:addLabels': { action: 'change_thread_labels', args: { thread_id: 'threadId', add: 'labelIds[]' } },
      'thread:removeLabels': { action: 'change_thread_labels', args: { thread_id: 'threadId', remove: 'labelIds[]' } },
      'label:getAll': { action: 'list_labels', args: {}, list: '' },
      'label:create': { action: 'create_label', args: { name: 'name' } },
      'label:delete': { action: 'delete_label', args: { label_id: 'labelId' } },
      'draft:delete': { action: 'delete_draft', args: { draft_id: 'messageId' } },
    },
  },
  googleDrive: {
    service: 'google_drive',
    resource: 'file',
    operation: 'upload',
    actions: {
      'file:download': { action: 'download_file', args: { file_id: 'fileId' }, file: 'data' },
      'file:upload': {
        action: 'upload_file',
        args: { file: '@inputDataFieldName|binaryPropertyName', name: 'name', folder_ids: 'folderId[]|parents[]' },
      },
      'file:copy': { action: 'copy_file', args: { file_id: 'fileId', name: 'name', folder_ids: 'folderId[]' } },
      'file:move': { action: 'move_file', args: { file_id: 'fileId', add_folder: 'folderId' } },
      'file:deleteFile': { action: 'delete_file', args: { file_id: 'fileId' } },
      'file:delete': { action: 'delete_file', args: { file_id: 'fileId' } },
      'file:share': {
        action: 'share_file',
        args: {
          file_id: 'fileId',
          role: 'permissionsUi.permissionsValues.role',
          type: 'permissionsUi.permissionsValues.type',
          email: 'permissionsUi.permissionsValues.emailAddress',
        },
      },
      'file:update': { action: 'update_file', args: { file_id: 'fileId', name: 'newUpdatedFileName' } },
      'folder:create': { action: 'create_folder', args: { name: 'name', folder_ids: 'folderId[]' } },
      'folder:deleteFolder': { action: 'delete_file', args: { file_id: 'folderNoRootId|folderId' } },
      'folder:share': {
        action: 'share_file',
        args: {
          file_id: 'folderNoRootId|folderId',
          role: 'permissionsUi.permissionsValues.role',
          type: 'permissionsUi.permissionsValues.type',
          email: 'permissionsUi.permissionsValues.emailAddress',
        },
      },
      'fileFolder:search': {
        action: 'list_files',
        args: { search: 'queryString', max_items: '#limit' },
        list: 'items',
      },
      'file:list': { action: 'list_files', args: { search: 'queryString', max_items: '#limit' }, list: 'items' },
    },
  },
  googleDocs: {
    service: 'google_docs',
    resource: 'document',
    operation: 'create',
    actions: {
      'document:create': { action: 'create_document', args: { title: 'title' } },
      'document:get': { action: 'get_document', args: { document_id: 'documentURL' } },
    },
  },
  googleCalendar: {
    service: 'google_calendar',
    resource: 'event',
    operation: 'create',
    actions: {
      'event:create': {
        action: 'create_event',
        args: {
          calendar_id: 'calendar',
          start: 'start',
          end: 'end',
          title: 'additionalFields.summary',
          description: 'additionalFields.description',
          location: 'additionalFields.location',
          attendees: 'additionalFields.attendees[]',
        },
      },
      'event:get': { action: 'get_event', args: { calendar_id: 'calendar', event_id: 'eventId' } },
      'event:getAll': {
        action: 'list_events',
        args: {
          calendar_id: 'calendar',
          from: 'timeMin|options.timeMin',
          to: 'timeMax|options.timeMax',
          search: 'options.query',
          max_items: '#limit',
        },
        list: 'items',
      },
      'event:update': {
        action: 'update_event',
        args: {
          calendar_id: 'calendar',
          event_id: 'eventId',
          start: 'updateFields.start',
          end: 'updateFields.end',
          title: 'updateFields.summary',
          description: 'updateFields.description',
          location: 'updateFields.location',
        },
      },
      'event:delete': { action: 'delete_event', args: { calendar_id: 'calendar', event_id: 'eventId' } },
      'calendar:availability': {
        action: 'find_busy_times',
        args: { calendar_ids: 'calendar[]', from: 'timeMin', to: 'timeMax' },
      },
    },
  },
  discord: {
    service: 'discord',
    resource: 'message',
    operation: 'send',
    actions: {
      'message:send': { action: 'send_message', args: { channel_id: 'channelId', content: 'content' } },
      'message:get': { action: 'get_message', args: { channel_id: 'channelId', message_id: 'messageId' } },
      'message:getAll': { action: 'list_messages', args: { channel_id: 'channelId', limit: '#limit' }, list: '' },
      'message:deleteMessage': { action: 'delete_message', args: { channel_id: 'channelId', message_id: 'messageId' } },
      'message:react': {
        action: 'add_reaction',
        args: { channel_id: 'channelId', message_id: 'messageId', emoji: 'emoji' },
      },
      'channel:create': { action: 'create_channel', args: { guild_id: 'guildId', name: 'name' } },
      'channel:getAll': { action: 'list_channels', args: { guild_id: 'guildId' }, list: '' },
      'channel:deleteChannel': { action: 'delete_channel', args: { channel_id: 'channelId' } },
      'member:getAll': { action: 'list_members', args: { guild_id: 'guildId' }, list: 'items' },
      'member:roleAdd': { action: 'add_role', args: { guild_id: 'guildId', user_id: 'userId', role_id: 'role' } },
      'member:roleRemove': { action: 'remove_role', args: { guild_id: 'guildId', user_id: 'userId', role_id: 'role' } },
    },
  },
  github: {
    service: 'github',
    resource: 'issue',
    operation: 'create',
    actions: {
      'issue:create': { action: 'create_issue', args: { ...REPO, title: 'title', body: 'body' } },
      'issue:createComment': { action: 'add_comment', args: { ...REPO, number: '#issueNumber', body: 'body' } },
      'issue:get': { action: 'get_issue', args: { ...REPO, number: '#issueNumber' } },
      'issue:edit': {
        action: 'update_issue',
        args: {
          ...REPO,
          number: '#issueNumber',
          title: 'editFields.title',
          body: 'editFields.body',
          state: 'editFields.state',
        },
      },
      'repository:get': { action: 'get_repository', args: REPO },
      'repository:getIssues': {
        action: 'list_issues',
        args: { ...REPO, state: 'getRepositoryIssuesFilters.state' },
        list: 'items',
      },
      'user:getRepositories': { action: 'list_repositories', args: {}, list: 'items' },
      'file:get': {
        action: 'download_file',
        args: { ...REPO, path: 'filePath', ref: 'additionalParameters.reference' },
        file: 'data',
      },
      'file:create': {
        action: 'put_file',
        args: { ...REPO, path: 'filePath', content: 'fileContent', message: 'commitMessage' },
      },
      'file:delete': { action: 'delete_file', args: { ...REPO, path: 'filePath', message: 'commitMessage' } },
      'release:create': {
        action: 'create_release',
        args: { ...REPO, tag_name: 'releaseTag', name: 'additionalFields.name', body: 'additionalFields.body' },
      },
      'release:getAll': { action: 'list_releases', args: REPO, list: 'items' },
      'review:create': {
        action: 'review_pull_request',
        args: { ...REPO, number: '#pullRequestNumber', event: 'event', body: 'body' },
      },
    },
  },
  gitlab: {
    service: 'gitlab',
    resource: 'issue',
    operation: 'create',
    actions: {
      'issue:create': { action: 'create_issue', args: { project: 'repository', title: 'title', description: 'body' } },
      'issue:createComment': {
        action: 'add_issue_comment',
        args: { project: 'repository', number: '#issueNumber', body: 'body' },
      },
      'issue:get': { action: 'get_issue', args: { project: 'repository', number: '#issueNumber' } },
    },
  },
  rssFeedRead: {
    service: 'rss',
    resource: '',
    operation: '',
    actions: { ':': { action: 'read_feed', args: { url: 'url' }, list: 'items' } },
  },
  notion: {
    service: 'notion',
    resource: 'page',
    operation: 'create',
    actions: {
      'page:get': { action: 'get_page', args: { page_id: 'pageId' } },
      'page:archive': { action: 'archive_page', args: { page_id: 'pageId' } },
      'page:search': { action: 'search', args: { text: 'text' }, list: 'items' },
      'database:get': { action: 'get_database', args: { database_id: 'databaseId' } },
      'databasePage:get': { action: 'get_page', args: { page_id: 'pageId' } },
      'databasePage:getAll': {
        action: 'query_database',
        args: { database_id: 'databaseId', max_items: '#limit' },
        list: 'items',
      },
      'block:getAll': { action: 'list_blocks', args: { block_id: 'blockId', max_items: '#limit' }, list: 'items' },
      'user:getAll': { action: 'list_users', args: {}, list: 'items' },
    },
  },
  airtable: {
    service: 'airtable',
    resource: 'record',
    operation: 'get',
    actions: {
      'record:get': { action: 'get_record', args: { base_id: 'base|application', table: 'table', record_id: 'id' } },
      'record:search': {
        action: 'list_records',
        args: { base_id: 'base|application', table: 'table', formula: 'filterByFormula', max_items: '#limit' },
        list: 'items',
      },
      'record:list': {
        action: 'list_records',
        args: {
          base_id: 'base|application',
          table: 'table',
          formula: 'additionalOptions.filterByFormula',
          max_items: '#limit',
        },
        list: 'items',
      },
      'record:create': {
        action: 'create_record',
        args: { base_id: 'base|application', table: 'table', fields: 'columns' },
      },
      'record:append': {
        action: 'create_record',
        args: { base_id: 'base|application', table: 'table', fields: 'columns' },
      },
      'record:update': {
        action: 'update_record',
        args: { base_id: 'base|application', table: 'table', record_id: 'id|columns.value.id', fields: 'columns' },
      },
      'record:upsert': {
        action: 'upsert_records',
        args: { base_id: 'base|application', table: 'table', fields: 'columns', match: 'columns.matchingColumns' },
      },
      'record:deleteRecord': {
        action: 'delete_record',
        args: { base_id: 'base|application', table: 'table', record_id: 'id' },
      },
    },
  },
  microsoftOutlook: {
    service: 'outlook',
    resource: 'message',
    operation: 'send',
    actions: {
      'message:send': { action: 'send_mail', args: { ...MAIL, body: 'bodyContent' } },
      'message:get': { action: 'get_message', args: { message_id: 'messageId' } },
      'message:getAll': { action: 'list_messages', args: { max_items: '#limit' }, list: 'items' },
      'message:move': { action: 'move_message', args: { message_id: 'messageId', folder: 'folderId' } },
      'message:reply': { action: 'reply', args: { message_id: 'messageId', comment: 'message' } },
    },
  },
  pipedrive: {
    service: 'pipedrive',
    resource: 'deal',
    operation: 'create',
    actions: {
      'deal:create': {
        action: 'create_deal',
        args: {
          title: 'title',
          value: '#additionalFields.value',
          currency: 'additionalFields.currency',
          person_id: '#person_id|additionalFields.person_id',
          org_id: '#org_id|additionalFields.org_id',
          stage_id: '#additionalFields.stage_id',
        },
      },
      'deal:get': { action: 'get_deal', args: { id: 'dealId' } },
      'deal:getAll': { action: 'list_deals', args: { max_items: '#limit' }, list: 'items' },
      'deal:update': {
        action: 'update_deal',
        args: {
          id: 'dealId',
          title: 'updateFields.title',
          value: '#updateFields.value',
          status: 'updateFields.status',
          stage_id: '#updateFields.stage_id',
        },
      },
      'person:create': {
        action: 'create_person',
        args: {
          name: 'name',
          email: 'additionalFields.email[]',
          phone: 'additionalFields.phone[]',
          org_id: '#additionalFields.org_id',
        },
      },
      'person:getAll': { action: 'list_persons', args: { max_items: '#limit' }, list: 'items' },
      'person:search': { action: 'search_persons', args: { term: 'term' }, list: '' },
      'organization:create': {
        action: 'create_organization',
        args: { name: 'name', address: 'additionalFields.address' },
      },
      'activity:create': {
        action: 'create_activity',
        args: {
          subject: 'subject',
          type: 'type',
          due_date: 'additionalFields.due_date',
          deal_id: '#additionalFields.deal_id',
          person_id: '#additionalFields.person_id',
          note: 'additionalFields.note',
        },
      },
      'note:create': {
        action: 'create_note',
        args: {
          content: 'content',
          deal_id: '#additionalFields.deal_id',
          person_id: '#additionalFields.person_id',
          org_id: '#additionalFields.org_id',
        },
      },
    },
  },
  microsoftTeams: {
    service: 'microsoft_teams',
    resource: 'channelMessage',
    operation: 'create',
    actions: {
      'channelMessage:create': {
        action: 'send_channel_message',
        args: { team_id: 'teamId', channel_id: 'channelId', content: 'message', content_type: 'contentType' },
      },
      'chatMessage:create': {
        action: 'send_chat_message',
        args: { chat_id: 'chatId', content: 'message', content_type: 'contentType' },
      },
      'channelMessage:getAll': {
        action: 'list_channel_messages',
        args: { team_id: 'teamId', channel_id: 'channelId', max_items: '#limit' },
        list: 'items',
      },
      'channel:getAll': { action: 'list_channels', args: { team_id: 'teamId' }, list: '' },
    },
  },
  hubspot: { service: 'hubspot', resource: 'contact', operation: 'upsert', actions: {} },
  supabase: { service: 'supabase', resource: 'row', operation: 'create', actions: {} },
  wordpress: { service: 'wordpress', resource: 'post', operation: 'create', actions: {} },
  jira: {
    service: 'jira',
    resource: 'issue',
    operation: 'create',
    actions: {
      'issue:create': {
        action: 'create_issue',
        args: {
          project: 'project',
          type: 'issueType',
          summary: 'summary',
          description: 'additionalFields.description',
          labels: 'additionalFields.labels[]',
        },
      },
      'issue:get': { action: 'get_issue', args: { issue: 'issueKey' } },
      'issue:getAll': { action: 'search_issues', args: { jql: 'options.jql', max_items: '#limit' }, list: 'items' },
      'issue:update': {
        action: 'update_issue',
        args: { issue: 'issueKey', summary: 'updateFields.summary', labels: 'updateFields.labels[]' },
      },
      'issue:delete': { action: 'delete_issue', args: { issue: 'issueKey' } },
      'issue:transitions': { action: 'list_transitions', args: { issue: 'issueKey' }, list: '' },
      'issueComment:add': { action: 'add_comment', args: { issue: 'issueKey', text: 'comment' } },
      'issueComment:getAll': {
        action: 'list_comments',
        args: { issue: 'issueKey', max_items: '#limit' },
        list: 'items',
      },
      'issueAttachment:add': { action: 'add_attachment', args: { issue: 'issueKey', file: '@binaryPropertyName' } },
    },
  },
  stripe: {
    service: 'stripe',
    resource: 'customer',
    operation: 'get',
    actions: {
      'customer:get': { action: 'get_customer', args: { customer_id: 'customerId' } },
      'customer:getAll': { action: 'list_customers', args: { max_items: '#limit' }, list: 'items' },
      'customer:create': { action: 'create_customer', args: { name: 'name', email: 'additionalFields.email' } },
      'charge:getAll': { action: 'list_charges', args: { max_items: '#limit' }, list: 'items' },
    },
  },
  twilio: {
    service: 'twilio',
    resource: 'sms',
    operation: 'send',
    actions: { 'sms:send': { action: 'send_message', args: { from: 'from', to: 'to', body: 'message' } } },
  },
  sendGrid: {
    service: 'sendgrid',
    resource: 'mail',
    operation: 'send',
    actions: {
      'mail:send': {
        action: 'send_mail',
        args: { from: 'fromEmail', to: 'toEmail[]', subject: 'subject', text: 'contentValue' },
      },
    },
  },
  linear: {
    service: 'linear',
    resource: 'issue',
    operation: 'create',
    actions: {
      'issue:create': {
        action: 'create_issue',
        args: { team_id: 'teamId', title: 'title', description: 'additionalFields.description' },
      },
    },
  },
  asana: {
    service: 'asana',
    resource: 'task',
    operation: 'create',
    actions: {
      'task:create': {
        action: 'create_task',
        args: { workspace: 'workspace', name: 'name', notes: 'otherProperties.notes' },
      },
      'task:get': { action: 'get_task', args: { task_id: 'id' } },
    },
  },
  trello: {
    service: 'trello',
    resource: 'card',
    operation: 'create',
    actions: {
      'card:create': {
        action: 'create_card',
        args: { list_id: 'listId', name: 'name', desc: 'description', due: 'additionalFields.due' },
      },
      'card:get': { action: 'get_card', args: { card_id: 'id' } },
      'card:update': {
        action: 'update_card',
        args: {
          card_id: 'id',
          list_id: 'updateFields.idList',
          name: 'updateFields.name',
          desc: 'updateFields.desc',
          due: 'updateFields.due',
        },
      },
      'card:delete': { action: 'delete_card', args: { card_id: 'id' } },
      'cardComment:create': { action: 'add_comment', args: { card_id: 'cardId', text: 'text' } },
      'list:getCards': { action: 'list_cards', args: { list_id: 'id' }, list: '' },
      'list:getAll': { action: 'list_lists', args: { board_id: 'id' }, list: '' },
      'attachment:create': { action: 'add_attachment', args: { card_id: 'cardId', file: '@binaryPropertyName' } },
    },
  },
  shopify: {
    service: 'shopify',
    resource: 'order',
    operation: 'create',
    actions: {
      'order:get': { action: 'get_order', args: { order_id: 'orderId' } },
      'order:getAll': { action: 'list_orders', args: { max_items: '#limit' }, list: 'items' },
      'product:getAll': { action: 'list_products', args: { max_items: '#limit' }, list: 'items' },
      'product:get': { action: 'get_product', args: { product_id: 'productId' } },
    },
  },
  zendesk: {
    service: 'zendesk',
    resource: 'ticket',
    operation: 'create',
    actions: {
      'ticket:get': { action: 'get_ticket', args: { ticket_id: '#id' } },
      'ticket:getAll': { action: 'list_tickets', args: { max_items: '#limit' }, list: 'items' },
    },
  },
  dropbox: {
    service: 'dropbox',
    resource: 'file',
    operation: 'upload',
    actions: {
      'file:upload': { action: 'upload_file', args: { path: 'path', file: '@binaryPropertyName' } },
      'file:download': { action: 'download_file', args: { path: 'path' }, file: 'data' },
    },
  },
  ...MORE_SERVICES,
}

/** Services whose events start workflows, by n8n trigger. */
export const TRIGGERS: Record<string, string> = {
  gmailTrigger: 'gmail',
  googleSheetsTrigger: 'google_sheets',
  googleDriveTrigger: 'google_drive',
  googleCalendarTrigger: 'google_calendar',
  telegramTrigger: 'telegram',
  slackTrigger: 'slack',
  githubTrigger: 'github',
  gitlabTrigger: 'gitlab',
  notionTrigger: 'notion',
  airtableTrigger: 'airtable',
  rssFeedReadTrigger: 'rss',
  whatsAppTrigger: 'whatsapp',
  microsoftOutlookTrigger: 'outlook',
  hubspotTrigger: 'hubspot',
  jiraTrigger: 'jira',
  stripeTrigger: 'stripe',
  shopifyTrigger: 'shopify',
  microsoftOneDriveTrigger: 'onedrive',
  microsoftTeamsTrigger: 'microsoft_teams',
}

/** Actions that code calls, not a line of the table. */
const BY_CODE: Record<string, string[]> = {
  gmail: ['send_message', 'create_draft', 'list_messages', 'get_message'],
  google_docs: ['batch_update'],
  google_sheets: [
    'read_rows',
    'get_values',
    'append_rows',
    'update_values',
    'clear_values',
    'create_spreadsheet',
    'add_sheet',
  ],
}

/** All services and actions that are mapped. */
export const MAPPED: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [...new Set([...Object.values(SERVICES).map(({ service }) => service), ...Object.keys(BY_CODE)])].map((service) => [
    service,
    new Set([
      ...Object.values(SERVICES)
        .filter((one) => one.service === service)
        .flatMap(({ actions }) => Object.values(actions).map(({ action }) => action)),
      ...(BY_CODE[service] ?? []),
    ]),
  ]),
)
