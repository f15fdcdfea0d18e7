import { describe, expect, test } from 'vitest'
import type { JsonObject } from '#model/definition'
import { byHand, convertOne, lang, nodesOf } from '#test/n8n/convert'
import { VENDORS } from './nodes/requests.ts'

// Nodes of vendors whose arguments combine several parameters, or that need several calls.

const id = '0123456789abcdef0123456789abcdef'

test.each<[type: string, parameters: JsonObject, calls: JsonObject[]]>([
  [
    'notion',
    {
      resource: 'databasePage',
      databaseId: { __rl: true, mode: 'url', value: `https://www.notion.so/${id}` },
      title: 'T',
      propertiesUi: {
        propertyValues: [
          { key: 'Tags|multi_select', multiSelectValue: ['a', 'b'] },
          { key: 'Count|number', numberValue: '3' },
          { key: 'Day|date', date: '2026-03-01T10:00:00', includeTime: false },
          { key: 'Done|checkbox', checkboxValue: true },
        ],
      },
      blockUi: { blockValues: [{ type: 'to_do', textContent: 'x', checked: true }] },
    },
    [
      {
        service: 'notion',
        action: 'create_database_page',
        args: {
          database_id: id,
          properties: {
            title: { title: [{ type: 'text', text: { content: 'T' } }] },
            Tags: { multi_select: [{ name: 'a' }, { name: 'b' }] },
            Count: { number: 3 },
            Day: { date: { start: '2026-03-01' } },
            Done: { checkbox: true },
          },
          children: [
            {
              object: 'block',
              type: 'to_do',
              to_do: { rich_text: [{ type: 'text', text: { content: 'x' } }], checked: true },
            },
          ],
        },
      },
    ],
  ],
  [
    'notion',
    {
      resource: 'databasePage',
      operation: 'getAll',
      databaseId: id,
      filterType: 'manual',
      matchType: 'allFilters',
      filters: { conditions: [{ key: 'State|status', condition: 'equals', statusValue: 'Open' }] },
      limit: 5,
    },
    [
      {
        action: 'query_database',
        args: { filter: { and: [{ property: 'State', status: { equals: 'Open' } }] }, max_items: 5 },
      },
    ],
  ],
  [
    'hubspot',
    {
      email: 'a@example.com',
      additionalFields: {
        firstName: 'Ann',
        customPropertiesUi: { customPropertiesValues: [{ property: 'plan', value: 'pro' }] },
      },
    },
    [{ action: 'upsert_contact', args: { email: 'a@example.com', properties: { firstname: 'Ann', plan: 'pro' } } }],
  ],
  [
    'hubspot',
    { resource: 'deal', stage: 'won', additionalFields: { dealName: 'D' } },
    [{ action: 'create_object', args: { type: 'deals', properties: { dealstage: 'won', dealname: 'D' } } }],
  ],
  [
    'supabase',
    {
      tableId: 't',
      operation: 'update',
      filters: { conditions: [{ keyName: 'id', condition: 'eq', keyValue: '7' }] },
      fieldsUi: { fieldValues: [{ fieldId: 'n', fieldValue: 'x' }] },
    },
    [{ action: 'update_rows', args: { table: 't', filters: { id: 'eq.7' }, fields: { n: 'x' } } }],
  ],
  [
    'salesforce',
    {
      resource: 'opportunity',
      operation: 'update',
      opportunityId: '7',
      updateFields: {
        stageName: 'Won',
        customFieldsUi: { customFieldsValues: [{ fieldId: 'Risk__c', value: 'Low' }] },
      },
    },
    [
      {
        action: 'update_record',
        args: { object: 'Opportunity', id: '7', fields: { StageName: 'Won', Risk__c: 'Low' } },
      },
    ],
  ],
  [
    'salesforce',
    {
      resource: 'customObject',
      operation: 'getAll',
      customObject: 'Time__c',
      limit: 5,
      options: { fields: ['Id', 'Day__c'], conditionsUi: { conditionValues: [{ field: 'Name', value: "O'Neil" }] } },
    },
    [
      {
        action: 'query',
        args: {
          soql: {
            $cel: `"SELECT Id, Day__c FROM Time__c WHERE " + "Name = '" + "O'Neil".replace("\\\\", "\\\\\\\\").replace("'", "\\\\'") + "'" + " LIMIT 5"`,
          },
        },
      },
    ],
  ],
  [
    'mailchimp',
    {
      list: 'L',
      email: 'a@example.com',
      status: 'subscribed',
      mergeFieldsUi: { mergeFieldsValues: [{ name: 'FNAME', value: 'A' }] },
    },
    [
      {
        action: 'put_subscriber',
        args: { list_id: 'L', email: 'a@example.com', status: 'subscribed', merge_fields: { FNAME: 'A' } },
      },
    ],
  ],
  [
    'microsoftOneDrive',
    { parentId: 'P', fileName: 'a.txt', fileContent: 'x' },
    [{ service: 'onedrive', action: 'upload_file', args: { folder_id: 'P', name: 'a.txt' } }],
  ],
  [
    'awsS3',
    { operation: 'upload', bucketName: 'b', fileName: 'k', binaryData: false, fileContent: 'x' },
    [{ service: 'aws_s3', action: 'put_object', args: { bucket: 'b', key: 'k' } }],
  ],
  [
    'telegram',
    { resource: 'file', fileId: 'F' },
    [{ action: 'get_file', args: { file_id: 'F' } }, { action: 'download_file' }],
  ],
  [
    'gmail',
    { operation: 'reply', messageId: 'M', message: 'x', emailType: 'text' },
    [
      { action: 'get_message', args: { message_id: 'M' } },
      { action: 'send_message', args: { text: 'x' } },
    ],
  ],
  [
    'googleDrive',
    { operation: 'createFromText', name: 'a.txt', content: 'x', folderId: { __rl: true, mode: 'id', value: 'FOLDER' } },
    [{ action: 'upload_file', args: { name: 'a.txt', folder_ids: ['FOLDER'] } }],
  ],
  [
    'slack',
    { resource: 'file', options: { channelId: 'C1', fileName: 'a.csv' } },
    [
      { action: 'get_upload_url', args: { filename: 'a.csv' } },
      { action: 'complete_upload', args: { channel_id: 'C1' } },
    ],
  ],
  [
    'github',
    {
      resource: 'file',
      operation: 'edit',
      owner: 'o',
      repository: 'r',
      filePath: 'a',
      fileContent: 'x',
      commitMessage: 'm',
    },
    [{ action: 'get_file' }, { action: 'put_file', args: { content: 'x', message: 'm' } }],
  ],
  [
    'wordpress',
    { title: 'T', additionalFields: { status: 'draft', content: 'x' } },
    [{ action: 'create_post', args: { title: 'T', status: 'draft', content: 'x' } }],
  ],
  [
    lang('openAi'),
    { resource: 'audio', operation: 'transcribe', options: { language: 'de' } },
    [{ service: 'openai', action: 'transcribe', args: { language: 'de' } }],
  ],
  [lang('openAi'), { resource: 'image', prompt: 'A cat' }, [{ action: 'generate_image', args: { prompt: 'A cat' } }]],
  ['openAi', { resource: 'image', operation: 'create', prompt: 'A cat' }, [{ action: 'generate_image' }]],
  [
    'jira',
    { project: 'P', issueType: 'Bug', summary: 'S' },
    [{ action: 'create_issue', args: { project: 'P', type: 'Bug', summary: 'S' } }],
  ],
  [
    'pipedrive',
    { title: 'D', additionalFields: { value: '5' } },
    [{ action: 'create_deal', args: { title: 'D', value: 5 } }],
  ],
])('%s %j', (type, parameters, calls) => {
  const converted = convertOne(type, parameters)
  expect(byHand(converted)).toEqual([])
  expect(nodesOf(converted, 'service.call').map(({ args }) => args)).toMatchObject(calls)
})

test('the model analyzes an image', () => {
  const converted = convertOne(lang('openAi'), {
    resource: 'image',
    operation: 'analyze',
    text: 'What is it?',
    imageUrls: 'https://example.com/a.png',
  })
  expect(byHand(converted)).toEqual([])
  expect(nodesOf(converted, 'llm.generate')[0]!.args).toMatchObject({
    prompt: 'What is it?',
    images: [{ base64: { $ref: expect.stringContaining('.content') } }],
  })
})

describe('requests that combine parameters', () => {
  const requestOf = (type: string, parameters: JsonObject): JsonObject => {
    const converted = convertOne(type, parameters)
    expect(byHand(converted)).toEqual([])
    return nodesOf(converted, 'http.request')[0]!.args as JsonObject
  }

  test.each<[type: string, parameters: JsonObject, args: JsonObject]>([
    [
      'blotato',
      {
        platform: 'youtube',
        accountId: { __rl: true, mode: 'list', value: '7' },
        postContentText: 'Hi',
        postCreateYoutubeOptionTitle: 'T',
      },
      {
        method: 'POST',
        url: 'https://backend.blotato.com/v2/posts',
        json: {
          post: {
            accountId: '7',
            content: { text: 'Hi', mediaUrls: [], platform: 'youtube' },
            target: { targetType: 'youtube', title: 'T', privacyStatus: 'public', shouldNotifySubscribers: true },
          },
        },
      },
    ],
    [
      'blotato',
      { resource: 'media', mediaUrl: 'https://example.com/a.mp4' },
      { url: 'https://backend.blotato.com/v2/media', json: { url: 'https://example.com/a.mp4' } },
    ],
    [
      'facebookGraphApi',
      {
        node: '17',
        edge: 'media',
        graphApiVersion: 'v22.0',
        httpRequestMethod: 'POST',
        options: {
          queryParameters: { parameter: [{ name: 'caption', value: 'Hi' }] },
          fields: { field: [{ name: 'id' }, { name: 'name' }] },
        },
      },
      {
        method: 'POST',
        url: { $cel: '"https://graph.facebook.com/" + "v22.0" + "/" + "17" + "/" + "media"' },
        query: { caption: 'Hi', fields: 'id,name' },
      },
    ],
    [
      'baserow',
      { operation: 'update', tableId: 3, rowId: 4, fieldsUi: { fieldValues: [{ fieldId: 9, fieldValue: 'x' }] } },
      { method: 'PATCH', json: { field_9: 'x' } },
    ],
    [
      lang('googleGemini'),
      {
        resource: 'image',
        operation: 'generate',
        prompt: 'A cat',
        modelId: { __rl: true, value: 'models/imagen-4.0-generate-001' },
      },
      {
        url: 'https://generativelanguage.googleapis.com/v1beta/models/imagen-4.0-generate-001:predict',
        json: { instances: [{ prompt: 'A cat' }], parameters: { sampleCount: 1 } },
      },
    ],
    [
      lang('googleGemini'),
      { resource: 'document', operation: 'analyze', inputType: 'binary', text: 'Sum it up' },
      { url: 'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent' },
    ],
  ])('%s %j', (type, parameters, args) => {
    expect(requestOf(type, parameters)).toMatchObject(args)
  })
})

describe('requests of vendors without a service', () => {
  const parameters = {
    endpoint: 'https://api.example.com/graphql',
    task: 'LIST',
    phoneNumberId: '1',
    recipientPhoneNumber: '49',
    textBody: 'Hi',
    mediaGetId: 'M',
    mediaLink: 'https://example.com/a',
    channelId: 'C',
    videoId: 'V',
    playlistId: 'P',
    title: 'T',
    text: 'x',
    tweetDeleteId: '5',
    searchText: 'q',
    user: 'u',
    subreddit: 's',
    postId: '7',
    keyword: 'k',
    list: 'L',
    id: 'I',
    name: 'N',
    commentText: 'c',
    actorId: 'A',
    actorTaskId: 'K',
    runId: 'R',
    datasetId: 'D',
    person: 'me',
    topic: 'T',
    meetingId: '9',
    cityName: 'Bonn',
    content: 'c',
    taskId: '3',
    workflowId: { __rl: true, mode: 'list', value: 'W' },
    workflowObject: '{"name": "W"}',
    executionId: 'E',
    credentialId: 'C',
    credentialTypeName: 'someApi',
    data: '{}',
    websiteUrl: 'https://example.com',
    userPrompt: 'What is there?',
    number: '49',
    message: 'Hi',
    instanceName: 'I',
    remoteJid: '49',
    messageText: 'Hi',
    media: 'https://example.com/a',
  }
  const all = Object.entries(VENDORS).flatMap(([kind, { requests }]) =>
    Object.entries(requests).map(([key, request]) => [kind, key, request] as const),
  )
  test.each(all)('%s %s', (kind, key, { method, url }) => {
    const [resource = '', rest = ''] = key.split(':')
    const [operation, messageType] = kind === 'whatsApp' ? rest.split(' ') : [rest, undefined]
    const converted = convertOne(
      kind,
      {
        ...parameters,
        ...(resource !== '' && { resource }),
        operation: operation!,
        ...(messageType && { messageType }),
      },
      { credentials: { someApi: { id: '1', name: 'Mine' } } },
    )
    expect(byHand(converted)).toEqual([])
    const [request] = nodesOf(converted, 'http.request')
    expect(request!.args).toMatchObject({ method })
    const address = JSON.stringify(request!.args!.url)
    expect(address).toContain(url.split('{')[0])
    expect(address.includes('vars.')).toBe(url.startsWith('{$vars.'))
    expect(address).not.toContain('To be filled in')
    expect(converted.credentials).toMatchObject([{ name: 'Mine' }])
  })
})
