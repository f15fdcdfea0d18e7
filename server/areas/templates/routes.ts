import { embedTokenVerbs } from '#areas/workflows/embed-token-verbs'
import type { makeEmbedTokens } from '#areas/workflows/tokens'
import { editor, member, owner, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { NewTemplate, Template, TemplatePatch, templateList } from './schema.ts'
import type { Templates } from './service.ts'

export type TemplateTokens = ReturnType<typeof makeEmbedTokens<{ template_id: string }>>

export function templateRoutes(templates: Templates, tokens: TemplateTokens): AnyRoute[] {
  const embed = embedTokenVerbs(tokens)
  return routes(
    'Templates',
    {
      listTemplates: ['GET', '/api/templates', viewer('workspace')],
      createTemplate: ['POST', '/api/templates', member('workspace')],
      getTemplate: ['GET', '/api/templates/:template_id', viewer('template')],
      updateTemplate: ['PATCH', '/api/templates/:template_id', editor('template')],
      deleteTemplate: ['DELETE', '/api/templates/:template_id', owner('template')],
      listTemplateTokens: ['GET', '/api/templates/:template_id/embed-tokens', member('template')],
      createTemplateToken: ['POST', '/api/templates/:template_id/embed-tokens', owner('template')],
      getTemplateToken: ['GET', '/api/templates/:template_id/embed-tokens/:token_id', member('template')],
      updateTemplateToken: ['PATCH', '/api/templates/:template_id/embed-tokens/:token_id', owner('template')],
      deleteTemplateToken: ['DELETE', '/api/templates/:template_id/embed-tokens/:token_id', owner('template')],
    },
    {
      listTemplates: {
        summary: 'Chat templates of the workspace',
        extension: true,
        query: templateList.query,
        answer: page(Template),
        run: templates.listTemplates,
      },
      createTemplate: {
        summary: 'Create a chat template',
        description:
          'What a widget, a thread or a channel says and may start. Anyone who names a workflow must be allowed to start it: the template lends that right to its visitors, and offers the workflow no longer once it is lost.',
        extension: true,
        body: NewTemplate,
        answer: Template,
        status: 201,
        location: ({ template_id }) => `/api/templates/${template_id}`,
        examples: {
          body: {
            name: 'Shop assistant',
            greeting: 'Hello! What can I do for you?',
            workflow_ids: ['wf_01kf3v6h2he3wtpk1fw5c0wz9d'],
            theme: { accent: '#0a7', position: 'right' },
            allowed_origins: ['https://shop.example'],
          },
        },
        run: templates.createTemplate,
      },
      getTemplate: { summary: 'One chat template', extension: true, answer: Template, run: templates.getTemplate },
      updateTemplate: {
        summary: 'Change a chat template',
        description:
          'Allowed for its creator and the owners of the workspace. Active conversations continue with the changed template.',
        extension: true,
        body: TemplatePatch,
        answer: Template,
        current: templates.getTemplate,
        run: templates.updateTemplate,
      },
      deleteTemplate: {
        summary: 'Delete a chat template and its embed tokens',
        extension: true,
        status: 204,
        current: templates.getTemplate,
        run: templates.deleteTemplate,
      },
      listTemplateTokens: { summary: 'Embed tokens of a template', extension: true, ...embed.list },
      createTemplateToken: {
        summary: 'Create an embed token for a template',
        description:
          'The response contains the token in `token`; lists do not. Without `allowed_origins` the list of the template is used.',
        extension: true,
        ...embed.create,
      },
      getTemplateToken: {
        summary: 'One embed token of a template, with the token itself',
        extension: true,
        ...embed.get,
      },
      updateTemplateToken: {
        summary: 'Change, enable or disable an embed token of a template',
        extension: true,
        ...embed.update,
      },
      deleteTemplateToken: { summary: 'Delete an embed token of a template', extension: true, ...embed.delete },
    },
  )
}
