import { sees, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { listKeptAnswers, readKeptAnswer, withdrawAnswer } from './kept-answers.ts'
import type { Questions } from './questions.ts'
import {
  Agreement,
  Approval,
  agreementQuery,
  Delegation,
  decidedList,
  EditedCall,
  gateList,
  inboxList,
  KeptAnswer,
  keptList,
  NewVote,
  Question,
  questionList,
  Respond,
  Responded,
  Vote,
} from './schema.ts'
import type { Approvals } from './service.ts'

export const approvalRoutes = ({ approvals, questions }: { approvals: Approvals; questions: Questions }): AnyRoute[] =>
  routes(
    'Approvals',
    {
      listInbox: ['GET', '/api/approvals/inbox', viewer('workspace')],
      listDecided: ['GET', '/api/approvals/decided', viewer('workspace')],
      getApproval: ['GET', '/api/approvals/:request_id', sees('gate')],
      castVote: ['POST', '/api/approvals/:request_id/votes', sees('gate')],
      editArguments: ['POST', '/api/approvals/:request_id/arguments', sees('gate')],
      delegateVote: ['POST', '/api/approvals/:request_id/delegate', sees('gate')],
      listExecutionApprovals: ['GET', '/api/workflows/executions/:execution_id/approvals', viewer('execution')],
      respondToExecution: ['POST', '/api/workflows/executions/:execution_id/respond', sees('execution'), 'run'],
      listQuestionInbox: ['GET', '/api/clarifications/inbox', viewer('workspace')],
      listKeptAnswers: ['GET', '/api/clarifications/answers', viewer('workspace')],
      withdrawAnswer: ['POST', '/api/clarifications/answers/:clarification_id/withdraw', viewer('workspace'), 'run'],
      listAgreement: ['GET', '/api/approvals/agreement', viewer('workspace')],
    },
    {
      listInbox: {
        summary: 'Open gates that wait for the vote of the caller, by due time; those without a due time come last',
        query: inboxList.query,
        answer: page(Approval),
        run: approvals.listInbox,
      },
      listDecided: {
        summary: 'Gates on which the caller has voted, newest first',
        query: decidedList.query,
        answer: page(Approval),
        extension: true,
        run: approvals.listDecided,
      },
      getApproval: {
        summary: 'One gate with every vote and the rationale of agents',
        answer: Approval,
        run: approvals.getApproval,
      },
      castVote: {
        summary: 'Vote on a gate, bound to the payload that was seen',
        body: NewVote,
        answer: Vote,
        status: 201,
        location: (_vote, path) => path.replace(/\/votes$/, ''),
        extension: true,
        examples: {
          body: {
            decision: 'approve',
            comment: 'Looks right',
            payload_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
          },
        },
        allowed: approvals.mayVote,
        run: approvals.castVote,
      },
      editArguments: {
        summary:
          'Edit the arguments of a tool call before it is approved; the response is the new gate for the edited call',
        body: EditedCall,
        answer: Approval,
        status: 201,
        location: ({ request_id }) => `/api/approvals/${request_id}`,
        extension: true,
        examples: {
          body: {
            arguments: { amount: 90, currency: 'EUR' },
            comment: 'Without the fee',
            payload_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
          },
        },
        allowed: approvals.mayVote,
        run: approvals.editArguments,
      },
      delegateVote: {
        summary: 'Hand the vote of the caller to a colleague',
        body: Delegation,
        answer: Approval,
        extension: true,
        allowed: approvals.mayVote,
        run: approvals.delegateVote,
      },
      listExecutionApprovals: {
        summary: 'All gates opened on an execution, with who can still vote',
        query: gateList.query,
        answer: page(Approval),
        run: approvals.listApprovalsOfExecution,
      },
      respondToExecution: {
        summary: 'Answer a question of a waiting execution',
        description: 'The first valid answer wins. With several open questions `clarification_id` says which.',
        body: Respond,
        answer: Responded,
        status: 202,
        examples: { body: { response: { colour: 'green' } } },
        ahead: questions.lockOnlyOne,
        allowed: questions.mayRespond,
        run: questions.respond,
      },
      listQuestionInbox: {
        summary: 'Open questions that the caller may answer, by due time; optionally of one execution',
        query: questionList.query,
        answer: page(Question),
        extension: true,
        run: questions.listQuestionInbox,
      },
      listKeptAnswers: {
        summary:
          'Answers that later questions may reuse: those of the caller, and those to questions of their workflows',
        query: keptList.query,
        answer: page(KeptAnswer),
        extension: true,
        run: listKeptAnswers,
      },
      withdrawAnswer: {
        summary: 'Stop later questions from reusing an answer',
        description:
          'For the person who gave it, the owner of the workflow and owners of the workspace. Runs that used it keep it.',
        answer: KeptAnswer,
        extension: true,
        allowed: readKeptAnswer,
        run: withdrawAnswer,
      },
      listAgreement: {
        summary: 'How often the independent vote of each agent matched the final decision, by gate',
        query: agreementQuery,
        answer: page(Agreement),
        extension: true,
        run: approvals.listAgreement,
      },
    },
  )
