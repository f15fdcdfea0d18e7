import type { Exit } from '../flow.ts'
import { NotConvertible } from '../js-ast.ts'
import { isTrigger } from '../plan.ts'
import type { Step } from '../step.ts'
import * as classifying from './classifying.ts'
import { convertCode } from './code.ts'
import { dataTable } from './data-tables.ts'
import { database } from './databases.ts'
import * as files from './files.ts'
import * as flow from './flow-nodes.ts'
import { httpRequest, respond } from './http.ts'
import * as lists from './item-lists.ts'
import * as language from './language.ts'
import * as pages from './pages.ts'
import { TRIGGERS } from './service-table.ts'
import { callService } from './services.ts'
import { convertSet } from './set-node.ts'
import { subworkflow } from './subworkflow.ts'
import * as triggers from './triggers.ts'
import * as values from './values.ts'
import { isVectorStore, vectorStore } from './vector-stores.ts'

export type Handler = (step: Step) => Exit[]

const BASE: Record<string, Handler> = {
  webhook: triggers.webhook,
  scheduleTrigger: triggers.schedule,
  cron: triggers.schedule,
  interval: (step) => triggers.interval(step),
  manualTrigger: triggers.manual,
  start: triggers.manual,
  formTrigger: triggers.form,
  executeWorkflowTrigger: triggers.called,
  errorTrigger: triggers.failed,
  jotFormTrigger: triggers.jotForm,
  whatsAppTrigger: triggers.whatsApp,
  wooCommerceTrigger: triggers.hook,
  respondToWebhook: respond,
  httpRequest,
  if: flow.convertIf,
  switch: flow.convertSwitch,
  filter: flow.convertFilter,
  merge: flow.convertMerge,
  noOp: flow.passOn,
  splitInBatches: flow.passOn,
  wait: flow.convertWait,
  stopAndError: flow.convertStop,
  executeWorkflow: subworkflow,
  code: convertCode,
  function: convertCode,
  functionItem: convertCode,
  set: convertSet,
  splitOut: lists.splitOut,
  aggregate: lists.aggregate,
  limit: lists.limit,
  sort: lists.sort,
  removeDuplicates: lists.removeDuplicates,
  summarize: lists.summarize,
  itemLists: lists.itemLists,
  renameKeys: lists.renameKeys,
  dateTime: values.dateTime,
  crypto: values.crypto,
  markdown: values.markdown,
  extractFromFile: files.extractFromFile,
  convertToFile: files.convertToFile,
  spreadsheetFile: files.spreadsheetFile,
  xml: files.xml,
  readWriteFile: files.diskFile,
  writeBinaryFile: files.diskFile,
  readBinaryFile: files.diskFile,
  readBinaryFiles: files.diskFile,
  openAi: language.message,
  html: pages.html,
  htmlExtract: pages.html,
  form: pages.form,
  dataTable,
  postgres: database,
  timescaleDb: database,
  mySql: database,
  microsoftSql: database,
  snowflake: database,
}

const LANGUAGE: Record<string, Handler> = {
  chatTrigger: triggers.chat,
  manualChatTrigger: triggers.chat,
  mcpTrigger: triggers.toolServer,
  agent: language.agent,
  chainLlm: language.chain,
  openAi: language.message,
  googleGemini: language.message,
  anthropic: language.message,
  informationExtractor: classifying.informationExtractor,
  textClassifier: classifying.textClassifier,
  sentimentAnalysis: classifying.sentimentAnalysis,
  chainSummarization: classifying.summarization,
  chainRetrievalQa: language.retrieval,
}

const kindOf = (type: string): string => type.split('.').at(-1) ?? ''

/** Returns the function that converts a node: by its type, or as a call of a service. */
export function handlerOf({ node, work }: Step): Handler {
  const kind = kindOf(node.type)
  const table = node.type.includes('langchain') ? LANGUAGE : node.type.startsWith('n8n-nodes-base.') ? BASE : {}
  if (Object.hasOwn(table, kind)) return table[kind]!
  if (isVectorStore(node)) return vectorStore
  if (isTrigger(node)) {
    const service = Object.hasOwn(TRIGGERS, kind) ? TRIGGERS[kind]! : kind.replace(/Trigger$/, '')
    return (step) => triggers.event(step, service, work.services.has(service))
  }
  return (step) => {
    const found = callService(step, kind)
    if (found) return found
    throw new NotConvertible(`there is no counterpart of ${node.type.slice(0, 80)}`)
  }
}
