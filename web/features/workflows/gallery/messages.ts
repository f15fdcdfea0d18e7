import { body, cel, list, type Recipe, recipe, ref, text } from './recipe.ts'

export const messages: Recipe[] = [
  recipe({
    id: 'tell-me',
    name: 'Notify me',
    use: 'Messages',
    description: 'Sends a notification in the console.',
    inputs: { what: text('The kettle boils', 'What') },
    steps: [['tell', 'notify', 'Tell', { title: ref('input.what'), body: 'Sent by a workflow.' }]],
  }),
  recipe({
    id: 'weekly-digest',
    name: 'Weekly digest of the workspace',
    use: 'Messages',
    description: 'Sends a notification with the usage of the last week. Suitable for a schedule, every Monday.',
    steps: [
      ['usage', 'workspace.usage', 'Usage', { days: 7 }],
      ['tell', 'notify', 'Tell', { title: 'Your week', body: cel('json.encode(nodes.usage.output)') }],
    ],
  }),
  recipe({
    id: 'mail-report',
    name: 'Report by mail',
    use: 'Messages',
    description: 'A spreadsheet from records, attached to a mail.',
    needs: 'A mail server',
    inputs: {
      to: text('ada@example.com', 'To'),
      rows: list([
        { day: 'Monday', sold: 4 },
        { day: 'Tuesday', sold: 7 },
      ]),
    },
    steps: [
      ['sheet', 'file.convert', 'Spreadsheet', { rows: ref('input.rows'), to: 'csv', name: 'report.csv' }],
      [
        'send',
        'mail.send',
        'Send',
        {
          to: ref('input.to'),
          subject: 'Your report',
          text: 'The report is attached.',
          attachments: [ref('nodes.sheet.output.file')],
        },
      ],
    ],
  }),
  recipe({
    id: 'chat-message',
    name: 'Message to a chat room',
    use: 'Messages',
    description: 'Posts to the incoming webhook of a chat, such as Slack or Mattermost.',
    needs: 'The address of an incoming webhook',
    inputs: { url: text('https://chat.example.com/hooks/1', 'Address'), text: text('Hello from a workflow', 'Text') },
    steps: [
      ['post', 'http.request', 'Post', { method: 'POST', url: ref('input.url'), json: { text: ref('input.text') } }],
    ],
    output: ref('nodes.post.output.status'),
  }),
  recipe({
    id: 'reminders',
    name: 'Reminders for what is due',
    use: 'Messages',
    description: 'Checks a list and sends a notification for each item that is due.',
    inputs: {
      tasks: list(
        [
          { name: 'Water the plants', due: true },
          { name: 'Pay the rent', due: false },
        ],
        { type: 'object', properties: { name: { type: 'string' }, due: { type: 'boolean' } } },
      ),
    },
    steps: [
      ['due', 'set', 'What is due', { values: { tasks: cel('input.tasks.filter(x, x.due)') } }],
      [
        'each',
        'map',
        'Every task',
        {
          items: ref('nodes.due.output.tasks'),
          body: body([['tell', 'notify', 'Tell', { title: ref('item.name'), body: 'It is due.' }]], ref('item.name')),
        },
      ],
    ],
    output: ref('nodes.each.output'),
  }),
]
