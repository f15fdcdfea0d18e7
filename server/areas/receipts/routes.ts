import { anyone, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { Receipt, ReceiptKey } from './schema.ts'
import { getReceipt, type ReceiptDependencies } from './service.ts'

export const receiptRoutes = (deps: ReceiptDependencies): AnyRoute[] =>
  routes(
    'Executions',
    {
      getExecutionReceipt: ['GET', '/api/workflows/executions/:execution_id/receipt', viewer('execution')],
      getReceiptKey: ['GET', '/api/receipt-key', anyone],
    },
    {
      getExecutionReceipt: {
        summary: 'A signed receipt of an execution that has ended',
        description:
          'Hashes of the definition, the input and the results, the journal as a chain of hashes, and each gate with what its voters saw. `heddle verify FILE` checks it without the service, and names what was changed.',
        extension: true,
        answer: Receipt,
        transaction: false,
        run: (ctx, input) => getReceipt(deps, ctx, input),
      },
      getReceiptKey: {
        summary: 'The public key that signs receipts',
        description: 'Keep a copy: it proves that a receipt comes from this installation.',
        extension: true,
        answer: ReceiptKey,
        run: async () => ({
          key_id: deps.signer.keyId,
          algorithm: 'ed25519' as const,
          public_key: deps.signer.publicKey,
        }),
      },
    },
  )
