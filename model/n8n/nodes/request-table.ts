// The requests of vendors without a Heddle service, as in the vendors' API references. Data only: requests.ts reads it.

export type RequestOf = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** An address with parameters in braces. */
  url: string
  query?: Record<string, string>
  json?: Record<string, string>
  /** The parameter that contains the whole body. */
  whole?: string
  /** The parameter that names the field with the file to send. */
  file?: string
  headers?: Record<string, string>
  /** The path of the result inside the response body. */
  output?: string
  /** The result is a list of items. */
  list?: boolean
  download?: boolean
}
export type VendorOf = {
  title: string
  resource: string
  operation: string
  /** The default operation of each resource, for a node without an operation. */
  operations?: Record<string, string>
  requests: Record<string, RequestOf>
}

const GRAPH = 'https://graph.facebook.com/v22.0'
const YOUTUBE = 'https://www.googleapis.com/youtube/v3'
const REDDIT = 'https://oauth.reddit.com'
const X = 'https://api.x.com/2'
const CLICKUP = 'https://api.clickup.com/api/v2'
const APIFY = 'https://api.apify.com/v2'

const WHATSAPP_MEDIA = (kind: string): RequestOf => ({
  method: 'POST',
  url: `${GRAPH}/{phoneNumberId}/messages`,
  json: {
    messaging_product: "'whatsapp",
    to: 'recipientPhoneNumber',
    type: `'${kind}`,
    [`${kind}.link`]: 'mediaLink',
    [`${kind}.id`]: 'mediaId',
    [`${kind}.caption`]: 'additionalFields.mediaCaption',
  },
})

export const REQUESTS: Record<string, VendorOf> = {
  whatsApp: {
    title: 'WhatsApp',
    resource: 'message',
    operation: 'send',
    operations: { media: 'mediaUpload' },
    requests: {
      'message:send': {
        method: 'POST',
        url: `${GRAPH}/{phoneNumberId}/messages`,
        json: {
          messaging_product: "'whatsapp",
          to: 'recipientPhoneNumber',
          type: "'text",
          'text.body': 'textBody',
        },
      },
      'media:mediaUrlGet': { method: 'GET', url: `${GRAPH}/{mediaGetId}` },
      'message:send image': WHATSAPP_MEDIA('image'),
      'message:send audio': WHATSAPP_MEDIA('audio'),
      'message:send video': WHATSAPP_MEDIA('video'),
      'message:send document': WHATSAPP_MEDIA('document'),
    },
  },
  youTube: {
    title: 'YouTube',
    resource: 'channel',
    operation: 'getAll',
    operations: { channel: 'getAll', video: 'getAll', playlist: 'getAll', playlistItem: 'getAll' },
    requests: {
      'channel:get': {
        method: 'GET',
        url: `${YOUTUBE}/channels`,
        query: { part: "'snippet,contentDetails,statistics", id: 'channelId' },
        output: 'items',
        list: true,
      },
      'channel:getAll': {
        method: 'GET',
        url: `${YOUTUBE}/channels`,
        query: {
          part: "'snippet,contentDetails,statistics",
          id: 'filters.id',
          forUsername: 'filters.forUsername',
          maxResults: '#limit',
        },
        output: 'items',
        list: true,
      },
      'video:get': {
        method: 'GET',
        url: `${YOUTUBE}/videos`,
        query: { part: "'snippet,contentDetails,statistics,status", id: 'videoId' },
        output: 'items',
        list: true,
      },
      'video:getAll': {
        method: 'GET',
        url: `${YOUTUBE}/search`,
        query: {
          part: "'snippet",
          type: "'video",
          q: 'filters.q',
          channelId: 'filters.channelId',
          regionCode: 'filters.regionCode',
          publishedAfter: 'filters.publishedAfter',
          publishedBefore: 'filters.publishedBefore',
          relatedToVideoId: 'filters.relatedToVideoId',
          order: 'options.order',
          safeSearch: 'options.safeSearch',
          maxResults: '#limit',
        },
        output: 'items',
        list: true,
      },
      'video:update': {
        method: 'PUT',
        url: `${YOUTUBE}/videos?part=snippet`,
        json: {
          id: 'videoId',
          'snippet.title': 'title',
          'snippet.categoryId': 'categoryId',
          'snippet.description': 'updateFields.description',
          'snippet.tags': 'updateFields.tags',
        },
      },
      'video:delete': { method: 'DELETE', url: `${YOUTUBE}/videos`, query: { id: 'videoId' } },
      'playlist:get': {
        method: 'GET',
        url: `${YOUTUBE}/playlists`,
        query: { part: "'snippet,contentDetails", id: 'playlistId' },
        output: 'items',
        list: true,
      },
      'playlist:getAll': {
        method: 'GET',
        url: `${YOUTUBE}/playlists`,
        query: { part: "'snippet,contentDetails", channelId: 'filters.channelId', maxResults: '#limit' },
        output: 'items',
        list: true,
      },
      'playlistItem:getAll': {
        method: 'GET',
        url: `${YOUTUBE}/playlistItems`,
        query: { part: "'snippet,contentDetails", playlistId: 'playlistId', maxResults: '#limit' },
        output: 'items',
        list: true,
      },
      'playlistItem:add': {
        method: 'POST',
        url: `${YOUTUBE}/playlistItems?part=snippet`,
        json: {
          'snippet.playlistId': 'playlistId',
          'snippet.resourceId.kind': "'youtube#video",
          'snippet.resourceId.videoId': 'videoId',
        },
      },
    },
  },
  twitter: {
    title: 'X',
    resource: 'tweet',
    operation: 'create',
    requests: {
      'tweet:create': { method: 'POST', url: `${X}/tweets`, json: { text: 'text' }, output: 'data' },
      'tweet:delete': { method: 'DELETE', url: `${X}/tweets/{tweetDeleteId|tweetId}`, output: 'data' },
      'tweet:search': {
        method: 'GET',
        url: `${X}/tweets/search/recent`,
        query: { query: 'searchText', max_results: '#limit' },
        output: 'data',
        list: true,
      },
      'user:searchUser': { method: 'GET', url: `${X}/users/by/username/{user}`, output: 'data' },
    },
  },
  reddit: {
    title: 'Reddit',
    resource: 'post',
    operation: 'create',
    operations: { subreddit: 'get', postComment: 'create', profile: 'get', user: 'get' },
    requests: {
      'post:create': {
        method: 'POST',
        url: `${REDDIT}/api/submit`,
        query: { sr: 'subreddit', title: 'title', kind: "kind|'self", text: 'text', url: 'url', api_type: "'json" },
      },
      'post:get': { method: 'GET', url: `${REDDIT}/r/{subreddit}/comments/{postId}.json` },
      'post:getAll': {
        method: 'GET',
        url: `${REDDIT}/r/{subreddit}/hot.json`,
        query: { limit: '#limit' },
        output: 'data.children',
        list: true,
      },
      'post:search': {
        method: 'GET',
        url: `${REDDIT}/r/{subreddit}/search.json`,
        query: { q: 'keyword', restrict_sr: "'on", sort: 'additionalFields.sort', limit: '#limit' },
        output: 'data.children',
        list: true,
      },
      'subreddit:get': { method: 'GET', url: `${REDDIT}/r/{subreddit}/about.json`, output: 'data' },
    },
  },
  linkedIn: {
    title: 'LinkedIn',
    resource: 'post',
    operation: 'create',
    requests: {
      'post:create': {
        method: 'POST',
        url: 'https://api.linkedin.com/rest/posts',
        headers: { 'LinkedIn-Version': '202506', 'X-Restli-Protocol-Version': '2.0.0' },
        json: {
          author: 'author',
          commentary: 'text',
          visibility: "additionalFields.visibility|'PUBLIC",
          lifecycleState: "'PUBLISHED",
          'distribution.feedDistribution': "'MAIN_FEED",
          'content.article.source': 'originalUrl',
          'content.article.title': 'additionalFields.title',
        },
      },
    },
  },
  graphql: {
    title: 'GraphQL',
    resource: '',
    operation: '',
    requests: {
      ':': { method: 'POST', url: '{endpoint}', json: { query: 'query', variables: 'variables' } },
    },
  },
  googleTasks: {
    title: 'Google Tasks',
    resource: 'task',
    operation: 'create',
    requests: {
      'task:create': {
        method: 'POST',
        url: 'https://tasks.googleapis.com/tasks/v1/lists/{task}/tasks',
        json: { title: 'title', notes: 'additionalFields.notes', due: 'additionalFields.dueDate' },
      },
      'task:getAll': {
        method: 'GET',
        url: 'https://tasks.googleapis.com/tasks/v1/lists/{task}/tasks',
        query: { maxResults: '#limit', dueMin: 'additionalFields.dueMin', dueMax: 'additionalFields.dueMax' },
        output: 'items',
        list: true,
      },
      'task:delete': { method: 'DELETE', url: 'https://tasks.googleapis.com/tasks/v1/lists/{task}/tasks/{taskId}' },
    },
  },
  zoom: {
    title: 'Zoom',
    resource: 'meeting',
    operation: 'create',
    requests: {
      'meeting:create': {
        method: 'POST',
        url: 'https://api.zoom.us/v2/users/me/meetings',
        json: {
          topic: 'topic',
          type: '#additionalFields.type',
          start_time: 'additionalFields.startTime',
          duration: '#additionalFields.duration',
          timezone: 'additionalFields.timeZone',
          agenda: 'additionalFields.agenda',
          password: 'additionalFields.password',
        },
      },
      'meeting:get': { method: 'GET', url: 'https://api.zoom.us/v2/meetings/{meetingId}' },
      'meeting:delete': { method: 'DELETE', url: 'https://api.zoom.us/v2/meetings/{meetingId}' },
      'meeting:getAll': {
        method: 'GET',
        url: 'https://api.zoom.us/v2/users/me/meetings',
        query: { type: 'filters.type', page_size: '#limit' },
        output: 'meetings',
        list: true,
      },
    },
  },
  openWeatherMap: {
    title: 'OpenWeatherMap',
    resource: '',
    operation: 'currentWeather',
    requests: {
      ':currentWeather': {
        method: 'GET',
        url: 'https://api.openweathermap.org/data/2.5/weather',
        query: {
          units: 'format',
          q: 'cityName',
          id: 'cityId',
          lat: 'latitude',
          lon: 'longitude',
          zip: 'zipCode',
          lang: 'language',
        },
      },
      ':5DayForecast': {
        method: 'GET',
        url: 'https://api.openweathermap.org/data/2.5/forecast',
        query: {
          units: 'format',
          q: 'cityName',
          id: 'cityId',
          lat: 'latitude',
          lon: 'longitude',
          zip: 'zipCode',
          lang: 'language',
        },
      },
    },
  },
  perplexity: {
    title: 'Perplexity',
    resource: 'chat',
    operation: 'complete',
    requests: {
      'chat:complete': {
        method: 'POST',
        url: 'https://api.perplexity.ai/chat/completions',
        json: { model: "model|'sonar", messages: 'messages.message' },
      },
    },
  },
  todoist: {
    title: 'Todoist',
    resource: 'task',
    operation: 'create',
    requests: {
      'task:create': {
        method: 'POST',
        url: 'https://api.todoist.com/api/v1/tasks',
        json: {
          content: 'content',
          description: 'options.description',
          project_id: 'project',
          due_string: 'options.dueString',
          priority: '#options.priority',
        },
      },
      'task:getAll': {
        method: 'GET',
        url: 'https://api.todoist.com/api/v1/tasks',
        query: { project_id: 'filters.projectId', limit: '#limit' },
        output: 'results',
        list: true,
      },
      'task:get': { method: 'GET', url: 'https://api.todoist.com/api/v1/tasks/{taskId}' },
      'task:close': { method: 'POST', url: 'https://api.todoist.com/api/v1/tasks/{taskId}/close' },
      'task:delete': { method: 'DELETE', url: 'https://api.todoist.com/api/v1/tasks/{taskId}' },
    },
  },
  clickUp: {
    title: 'ClickUp',
    resource: 'task',
    operation: 'create',
    requests: {
      'task:create': {
        method: 'POST',
        url: `${CLICKUP}/list/{list}/task`,
        json: {
          name: 'name',
          description: 'additionalFields.content',
          status: 'additionalFields.status',
          priority: '#additionalFields.priority',
        },
      },
      'task:get': { method: 'GET', url: `${CLICKUP}/task/{id}` },
      'task:getAll': { method: 'GET', url: `${CLICKUP}/list/{list}/task`, output: 'tasks', list: true },
      'task:update': {
        method: 'PUT',
        url: `${CLICKUP}/task/{id}`,
        json: { name: 'updateFields.name', description: 'updateFields.content', status: 'updateFields.status' },
      },
      'task:delete': { method: 'DELETE', url: `${CLICKUP}/task/{id}` },
      'comment:create': {
        method: 'POST',
        url: `${CLICKUP}/task/{id}/comment`,
        json: { comment_text: 'commentText' },
      },
    },
  },
  apify: {
    title: 'Apify',
    resource: 'Actors',
    operation: 'Run actor',
    operations: { Actors: 'Run actor', Datasets: 'Get items', 'Actor tasks': 'Run task', 'Actor runs': 'Get run' },
    requests: {
      'Actors:Run actor': {
        method: 'POST',
        url: `${APIFY}/acts/{actorId}/runs`,
        query: { timeout: '#timeout', memory: '#memory', waitForFinish: '#waitForFinish' },
        whole: 'customBody',
        output: 'data',
      },
      'Actors:Run actor and get dataset': {
        method: 'POST',
        url: `${APIFY}/acts/{actorId}/run-sync-get-dataset-items`,
        query: { timeout: '#timeout', memory: '#memory' },
        whole: 'customBody',
        list: true,
      },
      'Actors:Get last run': { method: 'GET', url: `${APIFY}/acts/{userActorId|actorId}/runs/last`, output: 'data' },
      'Actor tasks:Run task': {
        method: 'POST',
        url: `${APIFY}/actor-tasks/{actorTaskId}/runs`,
        query: { waitForFinish: '#waitForFinish' },
        whole: 'customBody',
        output: 'data',
      },
      'Actor tasks:Run task and get dataset': {
        method: 'POST',
        url: `${APIFY}/actor-tasks/{actorTaskId}/run-sync-get-dataset-items`,
        whole: 'customBody',
        list: true,
      },
      'Actor runs:Get run': { method: 'GET', url: `${APIFY}/actor-runs/{runId}`, output: 'data' },
      'Datasets:Get items': {
        method: 'GET',
        url: `${APIFY}/datasets/{datasetId}/items`,
        query: { limit: '#limit', offset: '#offset' },
        list: true,
      },
    },
  },
}
