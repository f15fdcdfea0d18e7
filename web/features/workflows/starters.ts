import type { Definition } from '#model/definition'

// Workflows to start with. Each runs without changes, offline, for a single user.

export type Starter = {
  id: string
  name: string
  description: string
  definition: Definition
}

const at = (x: number, y: number) => ({ x, y })

const expense: Starter = {
  id: 'expense-approval',
  name: 'Expense approval',
  description: 'Asks what an expense was for, then waits until an owner has approved it.',
  definition: {
    inputs: {
      type: 'object',
      properties: {
        amount: { type: 'number', title: 'Amount', minimum: 0, default: 120 },
        currency: { type: 'string', title: 'Currency', enum: ['EUR', 'USD', 'GBP'], default: 'EUR' },
        who: { type: 'string', title: 'Who paid', default: 'Ada' },
      },
      required: ['amount', 'currency', 'who'],
    },
    nodes: [
      {
        id: 'purpose',
        type: 'clarification',
        name: 'What was it for?',
        args: {
          question: 'What was the expense for?',
          schema: {
            type: 'object',
            properties: {
              purpose: { type: 'string', title: 'Purpose', minLength: 1 },
              category: { type: 'string', title: 'Category', enum: ['Travel', 'Meals', 'Equipment', 'Other'] },
            },
            required: ['purpose', 'category'],
          },
        },
      },
      {
        id: 'request',
        type: 'set',
        name: 'Prepare the request',
        args: {
          values: {
            amount: { $ref: 'input.amount' },
            currency: { $ref: 'input.currency' },
            who: { $ref: 'input.who' },
            purpose: { $ref: 'nodes.purpose.output.purpose' },
            category: { $ref: 'nodes.purpose.output.category' },
          },
        },
      },
      {
        id: 'approval',
        type: 'approval',
        name: 'An owner approves',
        args: {
          title: 'Approve an expense',
          payload: { $ref: 'nodes.request.output' },
          policy: { approvers: [{ kind: 'role', id: 'owner' }], quorum: 'any', allow_self: true },
        },
      },
      {
        id: 'paid',
        type: 'set',
        name: 'Approved',
        args: { values: { decision: 'approved', expense: { $ref: 'nodes.request.output' } } },
      },
      {
        id: 'refused',
        type: 'set',
        name: 'Rejected',
        args: { values: { decision: 'rejected', expense: { $ref: 'nodes.request.output' } } },
      },
    ],
    edges: [
      { id: 'e1', from: { node: 'purpose' }, to: 'request' },
      { id: 'e2', from: { node: 'request' }, to: 'approval' },
      { id: 'e3', from: { node: 'approval', port: 'approved' }, to: 'paid' },
      { id: 'e4', from: { node: 'approval', port: 'rejected' }, to: 'refused' },
    ],
    output: { $cel: 'nodes.approval.output.status == "approved" ? nodes.paid.output : nodes.refused.output' },
    layout: {
      positions: {
        purpose: at(0, 80),
        request: at(260, 80),
        approval: at(520, 80),
        paid: at(780, 0),
        refused: at(780, 160),
      },
    },
  },
}

const greeting: Starter = {
  id: 'ask-a-question',
  name: 'Ask a question',
  description: 'Asks a person a question and continues with the answer.',
  definition: {
    inputs: {
      type: 'object',
      properties: { topic: { type: 'string', title: 'Topic', default: 'the office plants' } },
      required: ['topic'],
    },
    nodes: [
      {
        id: 'ask',
        type: 'clarification',
        name: 'Ask',
        args: {
          question: 'What should happen?',
          schema: {
            type: 'object',
            properties: { answer: { type: 'string', title: 'Your answer', minLength: 1 } },
            required: ['answer'],
          },
        },
      },
      {
        id: 'note',
        type: 'set',
        name: 'Write it down',
        args: { values: { text: { $cel: '"About " + input.topic + ": " + nodes.ask.output.answer' } } },
      },
    ],
    edges: [{ id: 'e1', from: { node: 'ask' }, to: 'note' }],
    output: { $ref: 'nodes.note.output.text' },
    layout: { positions: { ask: at(0, 0), note: at(260, 0) } },
  },
}

const summary: Starter = {
  id: 'summarise-orders',
  name: 'Summarise orders',
  description: 'Adds up a list of orders and takes another branch when the total is large.',
  definition: {
    inputs: {
      type: 'object',
      properties: {
        orders: {
          type: 'array',
          title: 'Orders',
          items: {
            type: 'object',
            properties: { item: { type: 'string', title: 'Item' }, price: { type: 'number', title: 'Price' } },
            required: ['item', 'price'],
          },
          default: [
            { item: 'Loom', price: 480 },
            { item: 'Yarn', price: 35.5 },
          ],
        },
      },
      required: ['orders'],
    },
    nodes: [
      {
        id: 'total',
        type: 'transform',
        name: 'Add them up',
        args: { input: { $ref: 'input.orders' }, expression: '{ "total": $sum(price), "count": $count($) }' },
      },
      {
        id: 'size',
        type: 'branch',
        name: 'Large?',
        args: { cases: [{ port: 'large', when: { $cel: 'nodes.total.output.total > 500' } }] },
      },
      {
        id: 'large',
        type: 'set',
        name: 'A large order',
        args: { values: { size: 'large', total: { $ref: 'nodes.total.output.total' } } },
      },
      {
        id: 'small',
        type: 'set',
        name: 'A small order',
        args: { values: { size: 'small', total: { $ref: 'nodes.total.output.total' } } },
      },
    ],
    edges: [
      { id: 'e1', from: { node: 'total' }, to: 'size' },
      { id: 'e2', from: { node: 'size', port: 'large' }, to: 'large' },
      { id: 'e3', from: { node: 'size', port: 'default' }, to: 'small' },
    ],
    output: { $ref: 'nodes.total.output' },
    layout: { positions: { total: at(0, 80), size: at(260, 80), large: at(520, 0), small: at(520, 160) } },
  },
}

export const starters: Starter[] = [expense, greeting, summary]

export const blank: Starter = {
  id: 'blank',
  name: 'Empty workflow',
  description: 'Start from scratch in the editor.',
  definition: { nodes: [], edges: [] },
}
