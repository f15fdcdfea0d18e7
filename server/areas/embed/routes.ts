import { z } from 'zod'
import { Respond, Responded } from '#areas/approvals/schema'
import { SimpleExecution } from '#areas/executions/schema'
import { FileValue, uploadQuery } from '#areas/files/schema'
import { token } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { audioForm, filePart, listQuery } from '#platform/http/schema'
import { toWire } from '#platform/ids'
import {
  Action,
  ActionAnswer,
  Chat,
  ChatAnswer,
  Gather,
  Gathered,
  Heard,
  History,
  Memory,
  ofLocale,
  Speak,
  TemplateConfig,
  WorkflowConfig,
} from './schema.ts'
import type { TemplateWidget } from './template-widget.ts'
import type { VisitorConversations } from './visitor-conversations.ts'
import type { WorkflowWidget } from './workflow-widget.ts'

type OfTemplate = { template_id: string; execution_id: string }
type OfWorkflow = { workflow_id: string; execution_id: string }
type Answered = { execution_id: string } & z.output<typeof Respond>

const upload = {
  summary: 'Upload a file, to be sent with a message or in a form',
  description:
    'The body is the file itself, or multipart/form-data with the part `file`, of at most 64 MiB. It needs a visitor token, and an offered workflow that accepts a file. Send its id in `files` of a message, or put the response into the values of a form. A file that is not used is deleted after a day.',
  extension: true as const,
  query: uploadQuery,
  bodyKind: 'stream' as const,
  bodyLimit: 'file' as const,
  consumes: ['multipart/form-data'],
  described: { form: z.object({ file: filePart() }) },
  answer: FileValue,
  transaction: false as const,
  idempotency: 'none' as const,
  rate: 'visitor' as const,
}

const results = {
  summary: 'Results of any size of an execution that the visitor started',
  description: 'For results over 1 MiB: the status contains this address as `$blob`. They are streamed.',
  produces: ['application/json'],
  examples: { answer: { total: 25 } },
  transaction: false as const,
  rate: 'visitor' as const,
  extension: true as const,
}

const answering = {
  summary: 'Answer a question of an execution that the visitor started',
  body: Respond,
  answer: Responded,
  status: 202 as const,
  transaction: false as const,
  rate: 'visitor' as const,
}

export const embedTemplateRoutes = (widget: TemplateWidget, visitorConversations: VisitorConversations): AnyRoute[] =>
  routes(
    'Embed by template',
    {
      getWidgetConfig: ['GET', '/api/embed/template/:template_id/config', token('template')],
      chatWithWidget: ['POST', '/api/embed/template/:template_id/chat', token('template')],
      getWidgetExecution: ['GET', '/api/embed/template/:template_id/execution/:execution_id/status', token('template')],
      readWidgetResults: ['GET', '/api/embed/template/:template_id/execution/:execution_id/results', token('template')],
      respondThroughWidget: [
        'POST',
        '/api/embed/template/:template_id/executions/:execution_id/respond',
        token('template'),
      ],
      actOnWidgetForm: ['POST', '/api/embed/template/:template_id/thread/:thread_id/action', token('template')],
      getWidgetHistory: ['GET', '/api/embed/template/:template_id/thread/:thread_id/history', token('template')],
      getWidgetMemory: ['GET', '/api/embed/template/:template_id/memory', token('template')],
      forgetWidgetVisitor: ['DELETE', '/api/embed/template/:template_id/memory', token('template')],
      speakThroughWidget: ['POST', '/api/embed/template/:template_id/speech', token('template')],
      transcribeThroughWidget: ['POST', '/api/embed/template/:template_id/transcribe', token('template')],
      uploadThroughWidget: ['POST', '/api/embed/template/:template_id/files', token('template')],
    },
    {
      getWidgetConfig: {
        summary: 'What the widget shows, and a visitor token',
        description:
          'With a valid `X-Visitor-Token`, the new token is for the same visitor and valid for another 24 hours. If the template has no greeting, a default greeting in the language of `locale` is used.',
        query: ofLocale,
        answer: TemplateConfig,
        rate: 'visitor',
        run: widget.getTemplateConfig,
      },
      chatWithWidget: {
        summary: 'Send a message, and get the answer',
        description:
          'Without `thread_id` a new conversation starts, and without a visitor token a new visitor is created. A `form` belongs to the conversation: its values can be given in messages or submitted. Later questions and results are in the history. With `Accept: text/event-stream` the text of an assistant is streamed while it writes; after a broken connection, repeat the request with the same `Idempotency-Key` and the last id as `Last-Event-ID` to continue.',
        body: Chat,
        answer: ChatAnswer,
        streams: true,
        transaction: widget.answersAtOnce,
        rate: 'visitor',
        examples: { body: { message: 'I would like a refund for order 1042' } },
        run: widget.chat,
      },
      getWidgetExecution: {
        summary: 'Status of an execution that the visitor started, for polling',
        answer: SimpleExecution,
        transaction: false,
        rate: 'visitor',
        run: (ctx, input: OfTemplate) =>
          visitorConversations.status(ctx, input, `/api/embed/template/${toWire('tmpl', input.template_id)}/execution`),
      },
      readWidgetResults: { ...results, run: visitorConversations.results },
      respondThroughWidget: {
        ...answering,
        allowed: visitorConversations.mayRespond,
        run: (ctx, input: Answered & { template_id: string }) => visitorConversations.respond(ctx, input),
      },
      actOnWidgetForm: {
        summary: 'Submit or cancel a form',
        description:
          'A form can be used once; after that the response is 409 `form_closed`. Values that are not valid give 422 with paths under `/values`.',
        body: Action,
        answer: ActionAnswer,
        rate: 'visitor',
        examples: { body: { action: 'submit', form_id: 'form_01kf3v6h2he3wtpk1fw5c0wz9d', values: { order: 1042 } } },
        allowed: (ctx, { thread_id }) => visitorConversations.ownThread(ctx, thread_id),
        run: widget.act,
      },
      getWidgetHistory: {
        summary: 'Messages of a conversation, oldest first, and the form that is open',
        query: listQuery.extend({ after: z.string().max(100).optional().describe('Only messages after this one') }),
        answer: History,
        rate: 'visitor',
        run: widget.history,
      },
      getWidgetMemory: {
        summary: 'What the assistant remembers about the visitor',
        description:
          'A summary of earlier conversations, written by templates in the mode `agent`; null if there is none.',
        extension: true,
        answer: Memory,
        rate: 'visitor',
        run: widget.memory,
      },
      forgetWidgetVisitor: {
        summary: 'Forget what is remembered about the visitor',
        description:
          'Nothing from earlier conversations is used in later ones. The conversations themselves stay until they expire.',
        extension: true,
        status: 204,
        rate: 'visitor',
        current: widget.memory,
        run: widget.forget,
      },
      speakThroughWidget: {
        summary: 'Text in, mp3 out; nothing is stored',
        body: Speak,
        produces: ['audio/mpeg'],
        transaction: false,
        idempotency: 'none',
        rate: 'visitor',
        run: widget.speak,
      },
      transcribeThroughWidget: {
        summary: 'Audio in, text out; nothing is stored',
        description:
          'The audio is the body, or the part `audio` of a form: mp3, wav, ogg or webm, detected by its content.',
        bodyKind: 'any',
        consumes: ['multipart/form-data'],
        described: { form: audioForm },
        bodyLimit: 'audio',
        answer: Heard,
        transaction: false,
        idempotency: 'none',
        rate: 'visitor',
        run: widget.transcribe,
      },
      uploadThroughWidget: { ...upload, run: widget.upload },
    },
  )

export const embedWorkflowRoutes = (widget: WorkflowWidget, visitorConversations: VisitorConversations): AnyRoute[] =>
  routes(
    'Embed by workflow',
    {
      getWorkflowWidgetConfig: ['GET', '/api/embed/workflow/:workflow_id/config', token('workflow')],
      gatherInputs: ['POST', '/api/embed/workflow/:workflow_id/gather', token('workflow')],
      getEmbeddedExecution: ['GET', '/api/embed/workflow/:workflow_id/executions/:execution_id', token('workflow')],
      readEmbeddedResults: [
        'GET',
        '/api/embed/workflow/:workflow_id/executions/:execution_id/results',
        token('workflow'),
      ],
      respondToEmbedded: [
        'POST',
        '/api/embed/workflow/:workflow_id/executions/:execution_id/respond',
        token('workflow'),
      ],
      uploadForWorkflow: ['POST', '/api/embed/workflow/:workflow_id/files', token('workflow')],
    },
    {
      uploadForWorkflow: { ...upload, run: widget.upload },
      getWorkflowWidgetConfig: {
        summary: 'What the widget of a workflow shows, and a visitor token',
        extension: true,
        answer: WorkflowConfig,
        rate: 'visitor',
        run: widget.getWorkflowConfig,
      },
      gatherInputs: {
        summary: 'Collect the inputs of the workflow in a guided conversation, then start it',
        description:
          'Without `conversation_id` a conversation starts; without `message` the reply lists the required inputs. When no input is missing, the execution is started and `complete` is true.',
        body: Gather,
        answer: Gathered,
        transaction: widget.answersAtOnce,
        rate: 'visitor',
        examples: { body: { message: 'Two nights from 3 March for Ada' } },
        run: widget.gather,
      },
      getEmbeddedExecution: {
        summary: 'Status of an execution that the visitor started, simplified',
        answer: SimpleExecution,
        transaction: false,
        rate: 'visitor',
        run: (ctx, input: OfWorkflow) =>
          visitorConversations.status(ctx, input, `/api/embed/workflow/${toWire('wf', input.workflow_id)}/executions`),
      },
      readEmbeddedResults: { ...results, run: visitorConversations.results },
      respondToEmbedded: {
        ...answering,
        allowed: visitorConversations.mayRespond,
        run: (ctx, input: Answered & { workflow_id: string }) => visitorConversations.respond(ctx, input),
      },
    },
  )
