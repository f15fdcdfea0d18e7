// Workflows of a mill that buys, pays and refunds, for the screenshots. They run offline, except for the agent's vote.

const at = (x: number, y: number) => ({ x, y })

const auditor = {
  kind: 'agent',
  id: 'auditor',
  name: 'Auditor',
  instructions: 'Approve where the lines add up to the amount.',
}

const invoice = (financeTeam: string, withAgent: boolean) => ({
  name: 'Supplier invoice',
  description: 'Checks an invoice, asks for its cost centre, and pays it once Finance and the auditing agent agree.',
  definition: {
    inputs: {
      type: 'object',
      properties: {
        supplier: { type: 'string', title: 'Supplier' },
        number: { type: 'string', title: 'Invoice number' },
        amount: { type: 'number', title: 'Amount', minimum: 0 },
        currency: { type: 'string', title: 'Currency', enum: ['EUR', 'GBP', 'USD'], default: 'EUR' },
      },
      required: ['supplier', 'number', 'amount'],
    },
    nodes: [
      {
        id: 'read',
        type: 'set',
        name: 'Read the invoice',
        args: {
          values: {
            supplier: { $ref: 'input.supplier' },
            number: { $ref: 'input.number' },
            amount: { $ref: 'input.amount' },
            vat: { $cel: 'input.amount * 0.2' },
            gross: { $cel: 'input.amount * 1.2' },
          },
        },
      },
      {
        id: 'size',
        type: 'branch',
        name: 'Above the limit?',
        args: { cases: [{ port: 'large', when: { $cel: 'nodes.read.output.gross > 1000.0' } }] },
      },
      {
        id: 'centre',
        type: 'clarification',
        name: 'Which cost centre?',
        args: {
          question: 'Which cost centre pays this invoice?',
          schema: {
            type: 'object',
            properties: {
              centre: { type: 'string', title: 'Cost centre', enum: ['Weaving', 'Dyeing', 'Shipping', 'Office'] },
              remark: { type: 'string', title: 'Remark' },
            },
            required: ['centre'],
          },
        },
      },
      {
        id: 'approve',
        type: 'approval',
        name: 'Finance approves',
        args: {
          title: { $cel: "'Pay ' + input.supplier + ' · ' + input.number" },
          payload: {
            supplier: { $ref: 'input.supplier' },
            number: { $ref: 'input.number' },
            gross: { $ref: 'nodes.read.output.gross' },
            currency: { $cel: "has(input.currency) ? input.currency : 'EUR'" },
            cost_centre: { $ref: 'nodes.centre.output.centre' },
            lines: [
              { item: 'Merino yarn, undyed', quantity: 40, unit_price: 31.5 },
              { item: 'Bobbins, beech', quantity: 200, unit_price: 0.9 },
            ],
          },
          policy: {
            approvers: [{ kind: 'team', id: financeTeam, name: 'Finance' }, ...(withAgent ? [auditor] : [])],
            quorum: withAgent ? { $cel: 'approvals.human >= 2 && approvals.agent >= 1' } : { n_of: 2 },
            allow_self: true,
            due_in_s: 2 * 86_400,
            on_due: 'reject',
          },
        },
      },
      {
        id: 'pay',
        type: 'set',
        name: 'Order the payment',
        join: 'any',
        args: { values: { paid: true, reference: { $cel: "'PAY-' + input.number" } } },
      },
      { id: 'refuse', type: 'set', name: 'Send it back', args: { values: { paid: false } } },
    ],
    edges: [
      { from: { node: 'read' }, to: 'size' },
      { from: { node: 'size', port: 'large' }, to: 'centre' },
      { from: { node: 'size', port: 'default' }, to: 'pay' },
      { from: { node: 'centre' }, to: 'approve' },
      { from: { node: 'approve', port: 'approved' }, to: 'pay' },
      { from: { node: 'approve', port: 'rejected' }, to: 'refuse' },
    ],
    output: { $cel: 'nodes.pay.output != null ? nodes.pay.output : nodes.refuse.output' },
    layout: {
      positions: {
        read: at(0, 80),
        size: at(262, 80),
        centre: at(524, 0),
        approve: at(786, 0),
        pay: at(1048, 150),
        refuse: at(1048, -80),
      },
    },
  },
})

const refund = {
  name: 'Refund request',
  description: 'Looks at a complaint, asks the customer desk what to offer, and answers the customer.',
  definition: {
    inputs: {
      type: 'object',
      properties: {
        customer: { type: 'string', title: 'Customer' },
        complaint: { type: 'string', title: 'Complaint' },
      },
      required: ['customer', 'complaint'],
    },
    nodes: [
      {
        id: 'offer',
        type: 'clarification',
        name: 'What do we offer?',
        args: {
          question: { $cel: "'What do we offer ' + input.customer + '?'" },
          schema: { type: 'string', title: 'Offer', enum: ['Full refund', 'Half of it', 'A voucher', 'Nothing'] },
        },
      },
      {
        id: 'answer',
        type: 'set',
        name: 'Write the answer',
        args: {
          values: { text: { $cel: "'Dear ' + input.customer + ', we offer you: ' + string(nodes.offer.output)" } },
        },
      },
    ],
    edges: [{ from: { node: 'offer' }, to: 'answer' }],
    output: { $ref: 'nodes.answer.output.text' },
  },
}

const score = {
  name: 'Score a lead',
  description: 'Gives a lead points for its size and its country.',
  definition: {
    inputs: {
      type: 'object',
      properties: {
        company: { type: 'string', title: 'Company' },
        country: { type: 'string', title: 'Country' },
        employees: { type: 'number', title: 'Employees', minimum: 0 },
      },
      required: ['company', 'employees'],
    },
    nodes: [
      {
        id: 'points',
        type: 'code',
        name: 'Count points',
        args: {
          input: { $ref: 'input' },
          source:
            "if (input.employees === 0) throw new Error('a company without employees cannot be scored')\nconst size = Math.min(70, Math.round(Math.log10(input.employees) * 25))\nreturn { points: size + (['DE', 'FR', 'GB'].includes(input.country) ? 20 : 5) }",
        },
      },
      {
        id: 'grade',
        type: 'set',
        name: 'Grade',
        args: {
          values: {
            company: { $ref: 'input.company' },
            points: { $ref: 'nodes.points.output.points' },
            grade: { $cel: "nodes.points.output.points >= 70 ? 'A' : nodes.points.output.points >= 45 ? 'B' : 'C'" },
          },
        },
      },
    ],
    edges: [{ from: { node: 'points' }, to: 'grade' }],
    output: { $ref: 'nodes.grade.output' },
  },
}

const stock = {
  name: 'Nightly stock check',
  description: 'Compares what the shelves hold with what was sold.',
  definition: {
    inputs: { type: 'object', properties: { shelf: { type: 'string', title: 'Shelf', default: 'A' } } },
    nodes: [
      {
        id: 'count',
        type: 'transform',
        name: 'Count',
        retry: { max_attempts: 2, backoff_s: 1 },
        args: { input: { $ref: 'input' }, expression: '{ "shelf": shelf, "counted": 412, "sold": 430 }' },
      },
      {
        id: 'differ',
        type: 'branch',
        name: 'Does it differ?',
        args: { cases: [{ port: 'differs', when: { $cel: 'nodes.count.output.counted < nodes.count.output.sold' } }] },
      },
      {
        id: 'stop',
        type: 'fail',
        name: 'Stop',
        args: { code: 'stock_differs', message: '18 rolls are missing on the shelf; count again before selling' },
      },
    ],
    edges: [
      { from: { node: 'count' }, to: 'differ' },
      { from: { node: 'differ', port: 'differs' }, to: 'stop' },
    ],
  },
}

const onboarding = {
  name: 'New colleague',
  description: 'Prepares a desk, waits for the first day, and asks how it went.',
  definition: {
    inputs: { type: 'object', properties: { name: { type: 'string', title: 'Name' } }, required: ['name'] },
    nodes: [
      { id: 'desk', type: 'set', name: 'Prepare a desk', args: { values: { desk: 'C14' } } },
      { id: 'wait', type: 'wait', name: 'Until the first day', args: { for_s: 3 * 86_400 } },
      {
        id: 'ask',
        type: 'clarification',
        name: 'How was it?',
        args: { question: 'How was the first day?', schema: { type: 'string' } },
      },
    ],
    edges: [
      { from: { node: 'desk' }, to: 'wait' },
      { from: { node: 'wait' }, to: 'ask' },
    ],
  },
}

export const showcase = { invoice, refund, score, stock, onboarding }
