import type { FastifyInstance } from 'fastify'
import type { Demo } from './seed.ts'

// A few workflows that run offline, so that a new user sees the whole product in a minute.

const welcome = {
  name: 'Welcome',
  description: 'Greets somebody. The smallest workflow there is: one node and an output.',
  definition: {
    inputs: {
      type: 'object',
      properties: { name: { type: 'string', title: 'Name', default: 'Ada' } },
      required: ['name'],
    },
    nodes: [{ id: 'greet', type: 'set', name: 'Greet', args: { values: { text: { $cel: "'Hello ' + input.name" } } } }],
    edges: [],
    output: { $ref: 'nodes.greet.output.text' },
  },
}

const expenses = {
  name: 'Expense claim',
  description: 'Asks what a claim is for, lets small amounts through, and asks somebody to approve the others.',
  definition: {
    inputs: {
      type: 'object',
      properties: {
        amount: { type: 'number', title: 'Amount', minimum: 0 },
        currency: { type: 'string', title: 'Currency', default: 'EUR' },
      },
      required: ['amount'],
    },
    nodes: [
      {
        id: 'purpose',
        type: 'clarification',
        name: 'What is it for?',
        args: { question: 'What is the expense for?', schema: { type: 'string', title: 'Purpose', minLength: 3 } },
      },
      {
        id: 'size',
        type: 'branch',
        name: 'How large?',
        args: { cases: [{ port: 'large', when: { $cel: 'input.amount > 100' } }] },
      },
      {
        id: 'approve',
        type: 'approval',
        name: 'Approve',
        args: {
          title: { $cel: "'Expense of ' + string(input.amount) + ': ' + nodes.purpose.output" },
          payload: { amount: { $ref: 'input.amount' }, purpose: { $ref: 'nodes.purpose.output' } },
          policy: {
            approvers: [{ kind: 'role', id: 'owner' }],
            quorum: 'any',
            allow_self: true,
            due_in_s: 604800,
            on_due: 'reject',
          },
        },
      },
      { id: 'paid', type: 'set', name: 'Paid', join: 'any', args: { values: { outcome: 'paid' } } },
      { id: 'refused', type: 'set', name: 'Refused', args: { values: { outcome: 'refused' } } },
    ],
    edges: [
      { from: { node: 'purpose' }, to: 'size' },
      { from: { node: 'size', port: 'large' }, to: 'approve' },
      { from: { node: 'size', port: 'default' }, to: 'paid' },
      { from: { node: 'approve', port: 'approved' }, to: 'paid' },
      { from: { node: 'approve', port: 'rejected' }, to: 'refused' },
    ],
    output: { $cel: 'nodes.paid.output != null ? nodes.paid.output.outcome : nodes.refused.output.outcome' },
  },
}

const orderLines = {
  name: 'Order lines',
  description: 'Goes through the lines of an order, several at a time, and adds them up.',
  definition: {
    inputs: {
      type: 'object',
      properties: {
        lines: {
          type: 'array',
          title: 'Lines',
          items: {
            type: 'object',
            properties: { sku: { type: 'string' }, price: { type: 'number' }, count: { type: 'integer' } },
            required: ['sku', 'price', 'count'],
          },
          default: [
            { sku: 'bolts', price: 0.2, count: 100 },
            { sku: 'nuts', price: 0.1, count: 150 },
          ],
        },
      },
      required: ['lines'],
    },
    nodes: [
      {
        id: 'each',
        type: 'map',
        name: 'Each line',
        args: {
          items: { $ref: 'input.lines' },
          body: {
            nodes: [
              {
                id: 'line',
                type: 'set',
                args: { values: { sku: { $ref: 'item.sku' }, total: { $cel: 'item.price * item.count' } } },
              },
            ],
            edges: [],
            output: { $ref: 'nodes.line.output' },
          },
        },
      },
      // Not with a transform, whose expression would be checked in a process: its start took 0.35 s of the first start.
      {
        id: 'sum',
        type: 'set',
        name: 'Add up',
        args: {
          values: {
            lines: { $cel: 'size(nodes.each.output)' },
            total: { $cel: 'nodes.each.output.map(line, line.total).sum()' },
          },
        },
      },
    ],
    edges: [{ from: { node: 'each' }, to: 'sum' }],
    output: { $ref: 'nodes.sum.output' },
  },
}

export async function fillDemo(http: FastifyInstance, demo: Demo): Promise<void> {
  for (const workflow of [orderLines, expenses, welcome]) {
    const { statusCode, body } = await http.inject({
      method: 'POST',
      url: '/api/workflows',
      headers: { authorization: `Bearer ${demo.key}` },
      payload: workflow,
    })
    if (statusCode !== 201) throw new Error(body)
  }
}
