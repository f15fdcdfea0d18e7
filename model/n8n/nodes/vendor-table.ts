import type { RequestOf, VendorOf } from './request-table.ts'

// More requests of vendors without a Heddle service. `{$vars.name}` is an address that n8n stores in the credential: a
// variable here.

const N8N = '{$vars.n8n_url}/api/v1'
const SCRAPEGRAPH = 'https://api.scrapegraphai.com/v1'
const EVOLUTION = '{$vars.evolution_api_url}'

const EVOLUTION_MEDIA = (kind: string): RequestOf => ({
  method: 'POST',
  url: `${EVOLUTION}/message/sendMedia/{instanceName}`,
  json: { number: 'remoteJid', mediatype: `'${kind}`, media: 'media', caption: 'caption', fileName: 'fileName' },
})

export const MORE_REQUESTS: Record<string, VendorOf> = {
  n8n: {
    title: 'n8n',
    resource: 'workflow',
    operation: 'getAll',
    operations: { audit: 'generate', credential: 'create' },
    requests: {
      'workflow:getAll': {
        method: 'GET',
        url: `${N8N}/workflows`,
        query: {
          limit: '#limit',
          active: 'filters.activeWorkflows',
          tags: 'filters.tags',
          name: 'filters.name',
          projectId: 'filters.projectId',
        },
        output: 'data',
        list: true,
      },
      'workflow:get': { method: 'GET', url: `${N8N}/workflows/{workflowId}` },
      'workflow:create': { method: 'POST', url: `${N8N}/workflows`, whole: 'workflowObject' },
      'workflow:update': { method: 'PUT', url: `${N8N}/workflows/{workflowId}`, whole: 'workflowObject' },
      'workflow:delete': { method: 'DELETE', url: `${N8N}/workflows/{workflowId}` },
      'workflow:activate': { method: 'POST', url: `${N8N}/workflows/{workflowId}/activate` },
      'workflow:deactivate': { method: 'POST', url: `${N8N}/workflows/{workflowId}/deactivate` },
      'execution:getAll': {
        method: 'GET',
        url: `${N8N}/executions`,
        query: {
          limit: '#limit',
          workflowId: 'filters.workflowId',
          status: 'filters.status',
          includeData: 'options.activeWorkflows',
        },
        output: 'data',
        list: true,
      },
      'execution:get': {
        method: 'GET',
        url: `${N8N}/executions/{executionId}`,
        query: { includeData: 'options.activeWorkflows' },
      },
      'execution:delete': { method: 'DELETE', url: `${N8N}/executions/{executionId}` },
      'audit:generate': { method: 'POST', url: `${N8N}/audit`, json: {} },
      'credential:create': {
        method: 'POST',
        url: `${N8N}/credentials`,
        json: { name: 'name', type: 'credentialTypeName', data: 'data' },
      },
      'credential:delete': { method: 'DELETE', url: `${N8N}/credentials/{credentialId}` },
      'credential:getSchema': { method: 'GET', url: `${N8N}/credentials/schema/{credentialTypeName}` },
    },
  },
  scrapegraphAi: {
    title: 'ScrapeGraphAI',
    resource: 'smartscraper',
    operation: 'scrape',
    operations: { searchscraper: 'search', markdownify: 'convert' },
    requests: {
      'smartscraper:scrape': {
        method: 'POST',
        url: `${SCRAPEGRAPH}/smartscraper`,
        json: { website_url: 'websiteUrl', user_prompt: 'userPrompt', number_of_scrolls: '#numberOfScrolls' },
      },
      'searchscraper:search': {
        method: 'POST',
        url: `${SCRAPEGRAPH}/searchscraper`,
        json: { user_prompt: 'userPrompt', num_results: '#numResults' },
      },
      'markdownify:convert': { method: 'POST', url: `${SCRAPEGRAPH}/markdownify`, json: { website_url: 'websiteUrl' } },
    },
  },
  rapiwa: {
    title: 'Rapiwa',
    resource: '',
    operation: 'sendMessage',
    requests: {
      ':sendMessage': {
        method: 'POST',
        url: 'https://app.rapiwa.com/api/send-message',
        json: { number: 'number', message_type: "'text", message: 'message' },
      },
      ':verifyWhatsAppNumber': {
        method: 'POST',
        url: 'https://app.rapiwa.com/api/verify-whatsapp',
        json: { number: 'number' },
      },
    },
  },
  evolutionApi: {
    title: 'Evolution API',
    resource: 'messages-api',
    operation: 'send-text',
    requests: {
      'messages-api:send-text': {
        method: 'POST',
        url: `${EVOLUTION}/message/sendText/{instanceName}`,
        json: { number: 'remoteJid', text: 'messageText', delay: '#options_message.delay' },
      },
      'messages-api:send-image': EVOLUTION_MEDIA('image'),
      'messages-api:send-video': EVOLUTION_MEDIA('video'),
      'messages-api:send-document': EVOLUTION_MEDIA('document'),
      'messages-api:send-audio': {
        method: 'POST',
        url: `${EVOLUTION}/message/sendWhatsAppAudio/{instanceName}`,
        json: { number: 'remoteJid', audio: 'media' },
      },
    },
  },
}
