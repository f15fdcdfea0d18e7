// A piece for the tests, in the form of published packages of pieces: a warehouse with items on shelves.

const VERSION = require('./package.json').version

const say = async (auth, path, options = {}) => {
  const answer = await fetch(`${auth.props.base_url}${path}`, {
    ...options,
    headers: { authorization: `Token ${auth.props.token}`, 'content-type': 'application/json', ...options.headers },
  })
  const body = await answer.json().catch(() => null)
  if (answer.ok) return body
  throw Object.assign(new Error(body?.message ?? `the depot answered ${answer.status}`), {
    response: { status: answer.status, body },
  })
}
const text = (displayName, more = {}) => ({ type: 'SHORT_TEXT', displayName, required: false, ...more })

const auth = [
  {
    type: 'CUSTOM_AUTH',
    displayName: 'Token of the depot',
    required: true,
    props: {
      base_url: text('Address', { required: true, defaultValue: 'https://depot.example.com' }),
      token: { type: 'SECRET_TEXT', displayName: 'Token', required: true },
      help: { type: 'MARKDOWN', displayName: 'Help', description: 'Ask the depot' },
    },
    validate: async ({ auth: given }) => {
      const answer = await fetch(`${given.props.base_url}/me`, {
        headers: { authorization: `Token ${given.props.token}` },
      })
      return answer.ok ? { valid: true } : { valid: false, error: 'The depot does not know this token.' }
    },
  },
  {
    type: 'OAUTH2',
    displayName: 'Depot account',
    required: true,
    authUrl: 'https://depot.example.com/authorize',
    tokenUrl: 'https://depot.example.com/token',
    scope: ['items:read', 'items:write'],
    authorizationMethod: 'HEADER',
  },
]

const actions = {
  createItem: {
    displayName: 'Create item',
    description: 'Puts an item on a shelf',
    classification: 'WRITE',
    props: {
      name: text('Name', { required: true }),
      note: { type: 'MARKDOWN', description: 'Names are short' },
      count: { type: 'NUMBER', displayName: 'Count', required: false, defaultValue: 1 },
      size: {
        type: 'STATIC_DROPDOWN',
        displayName: 'Size',
        required: false,
        options: {
          options: [
            { label: 'Small', value: 's' },
            { label: 'Large', value: 'l' },
          ],
        },
      },
      shelf: {
        type: 'DROPDOWN',
        displayName: 'Shelf',
        required: false,
        refreshers: ['auth', 'size'],
        options: async ({ auth: given, size }) => {
          const shelves = await say(given, `/shelves?size=${size ?? ''}`)
          return { disabled: false, options: shelves.map(({ id, title }) => ({ value: id, label: title })) }
        },
      },
      more: {
        type: 'DYNAMIC',
        displayName: 'More',
        required: false,
        refreshers: ['shelf'],
        props: async ({ shelf }) => ({
          weight: { type: 'NUMBER', displayName: `Weight on ${shelf}`, required: true },
        }),
      },
      photo: { type: 'FILE', displayName: 'Photo', required: false },
    },
    run: ({ auth: given, propsValue }) => {
      const { photo, ...rest } = propsValue
      const body = { ...rest, ...(photo && { photo: { name: photo.filename, text: photo.data.toString('utf8') } }) }
      return say(given, '/items', { method: 'POST', body: JSON.stringify(body) })
    },
  },
  list_items: {
    displayName: 'List items',
    description: 'All items',
    classification: 'READ',
    props: {},
    run: ({ auth: given }) => say(given, '/items'),
  },
  rename_item: {
    displayName: 'Rename item',
    description: 'Gives an item another name',
    classification: 'WRITE',
    aiMetadata: { idempotent: true },
    props: { id: text('Id', { required: true }) },
    run: ({ auth: given, propsValue }) => say(given, `/items/${propsValue.id}`, { method: 'PUT', body: '{}' }),
  },
  download: {
    displayName: 'Download label',
    description: 'The label of an item as a file',
    classification: 'READ',
    props: {},
    run: async ({ files }) => ({ label: await files.write({ fileName: 'label.txt', data: Buffer.from('a label') }) }),
  },
  elsewhere: {
    displayName: 'Go elsewhere',
    description: 'Sends the token to another host',
    props: { url: text('Address', { required: true }) },
    run: async ({ auth: given, propsValue }) => {
      const answer = await fetch(propsValue.url, { headers: { authorization: given.props.token } })
      if (!answer.ok) throw new Error('it did not work')
      return {}
    },
  },
}

const triggers = {
  new_item: {
    displayName: 'New item',
    description: 'When an item is new',
    type: 'POLLING',
    props: {},
    onEnable: async ({ auth: given, store }) => {
      const items = await say(given, '/items')
      await store.put('last', items.length)
    },
    onDisable: async ({ store }) => store.delete('last'),
    run: async ({ auth: given, store }) => {
      const items = await say(given, '/items')
      const last = (await store.get('last')) ?? 0
      await store.put('last', items.length)
      return items.slice(last)
    },
  },
  item_sold: {
    displayName: 'Item sold',
    description: 'When an item is sold',
    type: 'WEBHOOK',
    props: { shelf: text('Shelf') },
    onEnable: async ({ auth: given, store, webhookUrl, propsValue }) => {
      const own = propsValue.shelf === 'own' ? crypto.randomUUID() : undefined
      const { id } = await say(given, '/hooks', {
        method: 'POST',
        body: JSON.stringify({ url: webhookUrl, shelf: propsValue.shelf, own }),
      })
      await store.put('hook', own ?? id)
      if (propsValue.shelf === 'slow' || own) await say(given, '/hooks/ready')
    },
    renewConfiguration: { strategy: 'CRON', cronExpression: '0 */12 * * *' },
    onRenew: async ({ auth: given, store, webhookUrl }) => {
      const { id } = await say(given, `/hooks/${await store.get('hook')}/renew`, {
        method: 'PUT',
        body: JSON.stringify({ url: webhookUrl }),
      })
      await store.put('renewed', id)
    },
    onDisable: async ({ auth: given, store }) => {
      await say(given, `/hooks/${await store.get('hook')}`, { method: 'DELETE' })
    },
    handshakeConfiguration: { strategy: 'QUERY_PRESENT', paramName: 'challenge' },
    onHandshake: async ({ payload }) => ({
      status: 200,
      body: payload.queryParams.challenge,
      headers: { 'Content-Type': 'text/html' },
    }),
    run: async ({ payload, store }) => {
      if (payload.body.broken) throw new Error('it cannot be read')
      await store.put('events', ((await store.get('events')) ?? 0) + 1)
      return payload.body.sold ? payload.body.sold : []
    },
  },
  by_hand: { displayName: 'By hand', description: 'Of the application', type: 'APP_WEBHOOK', props: {} },
}
if (VERSION !== '1.0.0') {
  actions.count_items = { ...actions.list_items, displayName: 'Count items' }
  delete actions.rename_item
}

const named = (parts) => Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, { name, ...part }]))

exports.depot = {
  displayName: 'Depot',
  description: 'Items on shelves',
  auth,
  getContextInfo: () => ({ version: '2' }),
  actions: () => named(actions),
  triggers: () => named(triggers),
}
