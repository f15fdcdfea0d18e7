import { body, cel, list, number, type Recipe, recipe, ref, text } from './recipe.ts'

export const requests: Recipe[] = [
  recipe({
    id: 'webhook-answer',
    name: 'Answer a webhook',
    use: 'Webhooks and requests',
    description: 'A small service that accepts a request and answers it. Add a webhook that responds with the node.',
    inputs: { name: text('world', 'Name') },
    steps: [
      ['make', 'set', 'Greeting', { values: { text: cel('"Hello, " + input.name') } }],
      ['answer', 'http.respond', 'Answer', { status: 200, body: ref('nodes.make.output') }],
    ],
  }),
  recipe({
    id: 'webhook-guard',
    name: 'Take orders from a shop',
    use: 'Webhooks and requests',
    description: 'Checks the orders that a shop sends, rejects incomplete ones and stores the rest.',
    inputs: { id: text('A-1042', 'Order'), email: text('ada@example.com', 'E-mail'), total: number(42, 'Total') },
    steps: [
      [
        'check',
        'branch',
        'Complete?',
        { cases: [{ port: 'fine', when: cel('input.email.contains("@") && input.total > 0') }] },
      ],
      ['keep', 'dataset.write', 'Keep', { name: 'Shop orders', records: [ref('input')], mode: 'append' }],
      ['ok', 'http.respond', 'Accepted', { status: 201, body: { order: ref('input.id') } }],
      ['no', 'http.respond', 'Refused', { status: 422, body: { error: 'an e-mail and a positive total are needed' } }],
    ],
    links: ['check:fine>keep', 'keep>ok', 'check:default>no'],
  }),
  recipe({
    id: 'fetch-page',
    name: 'Fetch and keep an answer',
    use: 'Webhooks and requests',
    description: 'Calls an address, retries if it is unavailable, and stores the response.',
    needs: 'Internet access',
    inputs: { url: text('https://example.com/', 'Address') },
    steps: [
      ['get', 'http.request', 'Call', { url: ref('input.url') }, { retry: { max_attempts: 3, backoff_s: 5 } }],
      ['brief', 'set', 'Result', { values: { status: ref('nodes.get.output.status') } }],
    ],
    output: ref('nodes.brief.output'),
  }),
  recipe({
    id: 'check-sites',
    name: 'Are our sites up?',
    use: 'Webhooks and requests',
    description: 'Checks several addresses at once and reports which are down. Suitable for a schedule.',
    needs: 'Internet access',
    inputs: { sites: list(['https://example.com/', 'https://example.org/'], { type: 'string' }) },
    steps: [
      [
        'each',
        'map',
        'Every site',
        {
          items: ref('input.sites'),
          on_item_error: 'collect',
          body: body([['get', 'http.request', 'Look', { url: ref('item'), method: 'HEAD' }]], {
            site: ref('item'),
            status: ref('nodes.get.output.status'),
          }),
        },
      ],
      [
        'down',
        'branch',
        'Any down?',
        { cases: [{ port: 'down', when: cel('nodes.each.output.exists(x, has(x.error))') }] },
      ],
      ['tell', 'notify', 'Tell', { title: 'A site does not answer', body: cel('json.encode(nodes.each.output)') }],
    ],
    links: ['each>down', 'down:down>tell'],
  }),
  recipe({
    id: 'post-json',
    name: 'Send a record to another system',
    use: 'Webhooks and requests',
    description:
      'Sends JSON in a POST request. Choose a stored credential in the step, so that no workflow contains the key.',
    needs: 'A credential of the other system',
    inputs: { url: text('https://example.com/api', 'Address'), record: { type: 'object', default: { name: 'Ada' } } },
    steps: [['send', 'http.request', 'Send', { method: 'POST', url: ref('input.url'), json: ref('input.record') }]],
    output: ref('nodes.send.output.status'),
  }),
  recipe({
    id: 'wait-for-payment',
    name: 'Wait for a payment',
    use: 'Webhooks and requests',
    description: 'Waits until an event with the order’s key arrives, at most a day.',
    inputs: { order: text('A-1042', 'Order') },
    steps: [
      ['paid', 'wait.event', 'Payment', { key: cel('"paid/" + input.order'), due_in_s: 86_400, on_due: 'continue' }],
      ['which', 'branch', 'In time?', { cases: [{ port: 'late', when: cel('nodes.paid.output.timed_out') }] }],
      ['ship', 'set', 'Ship', { values: { ship: ref('input.order') } }],
      [
        'remind',
        'notify',
        'Remind',
        { title: 'Not paid', body: cel('"Order " + input.order + " is not paid after a day"') },
      ],
    ],
    links: ['paid>which', 'which:default>ship', 'which:late>remind'],
  }),
  recipe({
    id: 'poll-until-done',
    name: 'Poll until it is done',
    use: 'Webhooks and requests',
    description: 'Repeats a step until its result is final.',
    steps: [
      [
        'poll',
        'loop',
        'Ask again',
        {
          until: cel('state.left == 0'),
          max_iterations: 20,
          state: { left: 3 },
          body: body([['look', 'set', 'Look', { values: { left: cel('state.left - 1') } }]], ref('nodes.look.output')),
        },
      ],
    ],
    output: ref('nodes.poll.output.turns'),
  }),
]
