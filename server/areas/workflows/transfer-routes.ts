import { owner, sees, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { NewTransfer, Transfer, transferList } from './schema.ts'
import * as transfers from './transfers.ts'

/** Routes for offering a workflow to a person, who becomes its owner by accepting the offer. */
export const transferRoutes = (): AnyRoute[] =>
  routes(
    'Workflows',
    {
      listTransfers: ['GET', '/api/workflow-transfers', viewer('workspace')],
      offerWorkflow: ['POST', '/api/workflows/:workflow_id/transfer', owner('workflow')],
      getTransfer: ['GET', '/api/workflows/:workflow_id/transfer', sees('workflow')],
      withdrawTransfer: ['DELETE', '/api/workflows/:workflow_id/transfer', owner('workflow')],
      acceptTransfer: ['POST', '/api/workflows/:workflow_id/transfer/accept', sees('workflow')],
      declineTransfer: ['POST', '/api/workflows/:workflow_id/transfer/decline', sees('workflow')],
    },
    {
      listTransfers: {
        summary: 'Workflows that are offered to the caller',
        query: transferList.query,
        answer: page(Transfer),
        extension: true,
        run: transfers.listTransfers,
      },
      offerWorkflow: {
        summary: 'Offer the workflow to a person, who becomes its owner by accepting',
        description:
          'The person finds the offer in `GET /api/workflow-transfers` and in their notifications. There can be one offer at a time (409 `conflict`); the same offer again gets 200.',
        body: NewTransfer,
        answer: Transfer,
        status: 201,
        alsoStatus: [200],
        location: (_transfer, path) => path,
        extension: true,
        run: transfers.offerWorkflow,
      },
      getTransfer: {
        summary: 'The offer, for its sender and its receiver',
        answer: Transfer,
        extension: true,
        run: transfers.getTransfer,
      },
      withdrawTransfer: {
        summary: 'Withdraw the offer',
        status: 204,
        extension: true,
        current: transfers.getTransfer,
        run: transfers.withdrawTransfer,
      },
      acceptTransfer: {
        summary: 'Become the owner of a workflow that was offered to the caller',
        description:
          'It is refused with 409 `activation_required` until the new owner, or an editor, has activated a version: then it runs with their rights.',
        answer: Transfer,
        extension: true,
        allowed: transfers.getOffer,
        run: transfers.acceptTransfer,
      },
      declineTransfer: {
        summary: 'Decline a workflow that was offered to the caller',
        answer: Transfer,
        extension: true,
        allowed: transfers.getOffer,
        run: transfers.declineTransfer,
      },
    },
  )
