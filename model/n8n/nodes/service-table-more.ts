import type { ServiceOf } from './service-types.ts'

// More services of the table: files of OneDrive and S3, Mailchimp and Salesforce.

const OBJECT = { bucket: 'bucketName', key: 'fileKey' }

export const MORE_SERVICES: Record<string, ServiceOf> = {
  microsoftOneDrive: {
    service: 'onedrive',
    resource: 'file',
    operation: 'upload',
    actions: {
      'file:download': { action: 'download_file', args: { item_id: 'fileId' }, file: 'data' },
      'file:get': { action: 'get_item', args: { item_id: 'fileId' } },
      'file:delete': { action: 'delete_item', args: { item_id: 'fileId' } },
      'file:rename': { action: 'update_item', args: { item_id: 'itemId', name: 'newName' } },
      'file:search': { action: 'search', args: { text: 'query' }, list: 'items' },
      'file:share': { action: 'create_link', args: { item_id: 'fileId', type: 'type', scope: 'scope' } },
      'folder:create': { action: 'create_folder', args: { name: 'name', folder_id: 'options.parentFolderId' } },
      'folder:delete': { action: 'delete_item', args: { item_id: 'folderId' } },
      'folder:rename': { action: 'update_item', args: { item_id: 'itemId', name: 'newName' } },
      'folder:getChildren': { action: 'list_items', args: { folder_id: 'folderId' }, list: 'items' },
      'folder:search': { action: 'search', args: { text: 'query' }, list: 'items' },
      'folder:share': { action: 'create_link', args: { item_id: 'folderId', type: 'type', scope: 'scope' } },
    },
  },
  awsS3: {
    service: 'aws_s3',
    resource: 'file',
    operation: 'download',
    actions: {
      'file:download': { action: 'get_object', args: OBJECT, file: 'data' },
      'file:delete': { action: 'delete_object', args: OBJECT },
      'file:getAll': {
        action: 'list_objects',
        args: { bucket: 'bucketName', prefix: 'options.folderKey', max_items: '#limit' },
        list: 'items',
      },
      'folder:getAll': {
        action: 'list_objects',
        args: { bucket: 'bucketName', prefix: 'options.folderKey', max_items: '#limit' },
        list: 'items',
      },
      'bucket:getAll': { action: 'list_buckets', args: {}, list: 'items' },
    },
  },
  mailchimp: {
    service: 'mailchimp',
    resource: 'member',
    operation: 'create',
    actions: {
      'member:get': { action: 'get_subscriber', args: { list_id: 'list', email: 'email' } },
      'member:getAll': {
        action: 'list_subscribers',
        args: { list_id: 'list', status: 'options.status', max_items: '#limit' },
        list: 'items',
      },
      'member:delete': { action: 'archive_subscriber', args: { list_id: 'list', email: 'email' } },
      'memberTag:create': { action: 'change_tags', args: { list_id: 'list', email: 'email', add: 'tags' } },
      'campaign:getAll': {
        action: 'list_campaigns',
        args: { status: 'options.status', max_items: '#limit' },
        list: 'items',
      },
      'campaign:send': { action: 'send_campaign', args: { campaign_id: 'campaignId' } },
    },
  },
  salesforce: { service: 'salesforce', resource: 'lead', operation: 'create', actions: {} },
}
