import { defaultsOf, type ExtractValues, type ModelSettings, requirementsOf } from '#areas/requirements/extract'
import type { FileValue } from '#engine/files'
import type { Json, JsonObject } from '#model/definition'
import { isObject, own } from '#model/json'
import { validateJson } from '#model/json-schema'
import type { Requirement } from '#providers/extraction/index'
import { contentStems } from '#providers/extraction/text'
import { isForPerson } from './asks-for-person.ts'
import type { ExecutionState } from './execution-store.ts'
import { filesWanted, takesFiles, withFiles } from './files.ts'
import { mayAskForPerson } from './handover.ts'
import { findIntent, isCancel, isGo, isHello, isNoWish, isRefusal, isReturn } from './intents.ts'
import { type Phrases, phrasesFor } from './languages/index.ts'
import type { AssistantSettings, Offer, ThreadContext } from './offer-store.ts'
import { askedNow, type OpenQuestion } from './state.ts'
import * as texts from './texts.ts'
import type { LockedThread } from './thread-store.ts'

// Decides how to handle a message, from the state of the conversation. It reads and writes nothing, so it can run
// before the thread is locked, and again if another turn came first.

export type Situation = ThreadContext & {
  thread: LockedThread
  executions: ExecutionState[]
  recent: { role: string; text: string }[]
}

type Say = { kind: 'say'; texts: string[]; offered?: string[]; drop?: boolean }

export type Decision =
  /** The assistant does not answer: a thread without a template, or a conversation that a colleague has taken over. */
  | { kind: 'silent' }
  | Say
  | { kind: 'gather'; offer: Offer; values: JsonObject; asked: string | null; texts: string[] }
  | { kind: 'start'; offer: Offer; input: JsonObject }
  | { kind: 'answer'; question: OpenQuestion; response: Json }
  /** The person asks for a human. */
  | { kind: 'hand_over'; reason: string }
  /** The answer is incomplete. Its known values are kept. */
  | { kind: 'ask_again'; question: OpenQuestion; texts: string[] }
  /** The question stays open, and the person may do something else first. */
  | { kind: 'set_aside'; question: OpenQuestion; texts: string[]; offered: string[] }

/** Returns a model's choice. Undefined if it made none; then the rules decide. */
export type PickWorkflow = (
  situation: Situation,
  text: string,
  signal?: AbortSignal,
) => Promise<{ workflowId: string | null; reply: string } | undefined>

export type Tools = { extract: ExtractValues; pick: PickWorkflow }
export type Statement = { text: string; files: FileValue[]; timeZone: string; now: Date; signal?: AbortSignal }

/** Returns the model settings. A template acts for its owner; missing settings come from the workspace. */
export const modelSettingsOf = (
  { workspace_id, thread_id }: LockedThread,
  voice: AssistantSettings | undefined,
): ModelSettings => ({
  workspaceId: workspace_id,
  threadId: thread_id,
  userId: voice?.owner_id ?? null,
  credentialId: voice?.llm?.credential_id ?? undefined,
  fallbackCredentialId: voice?.llm?.fallback_credential_id ?? undefined,
  model: voice?.model ?? undefined,
})

export async function decideReply(situation: Situation, statement: Statement, tools: Tools): Promise<Decision> {
  const { thread, offers, voice } = situation
  const { state } = thread
  const say = phrasesFor(state)
  if (thread.taken_over_by !== null) return { kind: 'silent' }
  if (thread.kind !== 'gather' && voice === undefined) return { kind: 'silent' }
  // A clip without words is stored and gets no answer.
  if (statement.text.trim() === '' && statement.files.length === 0) return { kind: 'silent' }
  const question = askedNow(state)
  if (question) return answerQuestion(question, situation, statement, tools)
  if (mayAskForPerson(thread) && isForPerson(statement.text)) return { kind: 'hand_over', reason: '' }
  const [waiting] = state.questions
  if (waiting && isReturn(statement.text))
    return {
      kind: 'ask_again',
      question: { ...waiting, aside: false },
      texts: [texts.questionText(say, waiting.question, waiting.schema)],
    }
  if (state.gathering) {
    const { workflow_id, values, asked } = state.gathering
    const offer = offers.find((one) => one.workflow_id === workflow_id)
    if (!offer) return goneFrom(say, offers)
    // All inputs are known and the person was asked whether to start.
    const ready = asked === null && missingOf(offer, values).length === 0
    if (ready ? isRefusal(statement.text) : isCancel(statement.text)) {
      if (thread.kind !== 'gather') return { ...sayMenu(say, offers, say.cancelled), drop: true }
      if (ready) return { kind: 'gather', offer, values, asked: null, texts: [say.notStarted] }
      return nextStep(say, offer, {}, [say.cancelled], false)
    }
    const before = { values, asked, files: state.files }
    return collect(situation, offer, before, statement, tools, !ready || isGo(statement.text))
  }
  if (thread.kind === 'gather') return { kind: 'say', texts: [statusText(situation) ?? say.complete] }
  return findWantedWorkflow(situation, statement, tools)
}

async function findWantedWorkflow(situation: Situation, statement: Statement, tools: Tools): Promise<Decision> {
  const { thread, offers, voice } = situation
  const say = phrasesFor(thread.state)
  if (statement.text === '') return offerFor(situation, statement, tools)
  if (isCancel(statement.text)) return sayMenu(say, offers)
  const intent = findIntent(statement.text, offers.map(choiceOf), thread.state.offered)
  const picked =
    intent.kind === 'chosen' && intent.sure ? undefined : await tools.pick(situation, statement.text, statement.signal)
  const chosen = picked ? picked.workflowId : intent.kind === 'chosen' ? intent.workflowId : null
  const offer = offers.find(({ workflow_id }) => workflow_id === chosen)
  if (offer) {
    // "2", or the name alone, is a choice without values.
    const bare = onlyNames(statement.text, offer)
    const heard = bare ? { ...statement, text: '' } : statement
    const before = { values: {}, asked: null, files: thread.state.files }
    return collect(situation, offer, before, heard, tools, !isNoWish(statement.text))
  }
  if (picked?.reply) return { kind: 'say', texts: [picked.reply] }
  if (intent.kind === 'several') {
    const meant = offers.filter(({ workflow_id }) => intent.workflowIds.includes(workflow_id))
    return { kind: 'say', texts: [texts.menu(say, meant, say.whichOne)], offered: meant.map(idOf) }
  }
  const status = statusText(situation)
  if (status !== undefined) return { kind: 'say', texts: [status] }
  return sayMenu(say, offers, isHello(statement.text) ? (voice?.greeting ?? say.greeting) : undefined)
}

/**
 * Handles files without a text: they are for the only workflow that accepts files, and the person is asked before it
 * starts.
 */
function offerFor(situation: Situation, statement: Statement, tools: Tools): Promise<Decision> | Decision {
  const { thread, offers } = situation
  const say = phrasesFor(thread.state)
  const takers = offers.filter(({ inputs }) => takesFiles(requirementsOf(inputs ?? true)))
  const [only] = takers
  if (!only || takers.length > 1)
    return sayMenu(say, takers.length > 1 ? takers : offers, texts.received(say, statement.files))
  const before = { values: {}, asked: null, files: thread.state.files }
  return collect(situation, only, before, statement, tools, false)
}

const idOf = ({ workflow_id }: Offer): string => workflow_id

const choiceOf = ({ workflow_id, name, description, inputs }: Offer) => ({
  workflow_id,
  name,
  description,
  topics: requirementsOf(inputs ?? true).map(({ name: input }) => input),
})

const onlyNames = (text: string, offer: Offer): boolean => {
  const rest = contentStems(text).filter((stem) => !contentStems(offer.name).includes(stem))
  return /^\W*\w*\W*\d{1,2}\W*$/.test(text) || rest.length === 0
}

const sayMenu = (say: Phrases, offers: Offer[], lead?: string): Say => ({
  kind: 'say',
  texts: [...(lead === undefined ? [] : [lead]), texts.menu(say, offers)],
  offered: offers.map(idOf),
})

/** The answer if the workflow whose inputs were being collected can no longer be started. */
export const goneFrom = (say: Phrases, offers: Offer[]): Decision => ({
  ...sayMenu(say, offers, say.gone),
  drop: true,
})

/** Returns the status of the last started execution that has not ended. */
function statusText({ thread, executions }: Situation): string | undefined {
  const last = thread.state.running.at(-1)
  if (!last) return undefined
  const gate = executions
    .find(({ execution_id }) => execution_id === last.execution_id)
    ?.waiting_for.find(({ kind }) => kind === 'approval')
  const say = phrasesFor(thread.state)
  return gate ? texts.waitsForApproval(say, gate.title ?? last.title) : say.stillRunning(last.title)
}

export const fitting = (values: JsonObject, requirements: Requirement[]): JsonObject =>
  Object.fromEntries(
    requirements.flatMap(({ name, schema }) => {
      const value = own(values, name)
      return value === undefined || (schema && validateJson(schema, value).length > 0) ? [] : [[name, value]]
    }),
  )

async function collect(
  { thread, voice }: Situation,
  offer: Offer,
  before: { values: JsonObject; asked: string | null; files: FileValue[] },
  statement: Statement,
  { extract }: Tools,
  mayStart: boolean,
): Promise<Decision> {
  const requirements = requirementsOf(offer.inputs ?? true)
  // The workflow may have changed since the values were given.
  const known = fitting(before.values, requirements)
  const given = withFiles(requirements, known, [...before.files, ...statement.files])
  // Text never becomes a file: a model or a visitor cannot name a file that was not sent.
  const spoken = requirements.filter(({ schema }) => filesWanted(schema) === null)
  const { values: heard } =
    spoken.length === 0 || statement.text === ''
      ? { values: {} }
      : await extract({
          message: statement.text,
          requirements: spoken,
          known: fitting(given, spoken),
          ...(spoken.some(({ name }) => name === before.asked) && { asked: before.asked! }),
          timeZone: statement.timeZone,
          now: statement.now,
          modelSettings: modelSettingsOf(thread, voice),
          ...(statement.signal && { signal: statement.signal }),
        })
  const values = { ...given, ...heard }
  const learnt = JSON.stringify(values) !== JSON.stringify(known)
  const say = phrasesFor(thread.state)
  return nextStep(say, offer, values, before.asked !== null && !learnt ? [say.notUnderstood] : [], mayStart)
}

/** Starts the workflow if all inputs are known. Otherwise asks for a missing input. */
export function nextStep(say: Phrases, offer: Offer, values: JsonObject, lead: string[], mayStart: boolean): Decision {
  const requirements = requirementsOf(offer.inputs ?? true)
  const open = missingOf(offer, values)
  const [first] = open
  if (first)
    return { kind: 'gather', offer, values, asked: first.name, texts: [...lead, texts.needed(say, offer.name, open)] }
  if (!mayStart) return { kind: 'gather', offer, values, asked: null, texts: [...lead, say.shallIStart(offer.name)] }
  const input = inputOf(offer, values)
  const issues = validateJson(offer.inputs ?? true, input)
  if (issues.length === 0) return { kind: 'start', offer, input }
  if (requirements.length === 0) return { kind: 'say', texts: [say.notNow], drop: true }
  return { kind: 'gather', offer, values, asked: null, texts: [...lead, texts.didNotFit(say, issues)] }
}

export const missingOf = (offer: Offer, values: JsonObject): Requirement[] => {
  const requirements = requirementsOf(offer.inputs ?? true)
  const defaults = defaultsOf(requirements)
  return requirements.filter(
    ({ name, required }) => required && !Object.hasOwn(values, name) && !Object.hasOwn(defaults, name),
  )
}

/** Returns the values, with the author's defaults for required inputs without a value. */
export function inputOf(offer: Offer, values: JsonObject): JsonObject {
  const requirements = requirementsOf(offer.inputs ?? true)
  return { ...defaultsOf(requirements.filter(({ required }) => required)), ...values }
}

const isForObject = (schema: Json): schema is JsonObject => isObject(schema) && own(schema, 'type') === 'object'

export const wantsForm = (schema: Json): boolean => isForObject(schema) && requirementsOf(schema).length > 0

const isOneOfSome = (schema: Json): boolean => isObject(schema) && own(schema, 'enum') !== undefined

async function answerQuestion(
  question: OpenQuestion,
  { thread, voice, offers }: Situation,
  statement: Statement,
  { extract }: Tools,
): Promise<Decision> {
  // "Cancel" may be one of the choices. Otherwise it sets the question aside.
  const leaves = isCancel(statement.text)
  const say = phrasesFor(thread.state)
  const aside = {
    kind: 'set_aside' as const,
    question,
    texts: [say.setAside, texts.menu(say, offers)],
    offered: offers.map(idOf),
  }
  if (leaves && !isOneOfSome(question.schema)) return aside
  const files = [...thread.state.files, ...statement.files]
  const wanted = filesWanted(question.schema)
  if (wanted !== null && files.length > 0) {
    const response = (wanted === 'one' ? files.at(-1)! : files) as unknown as Json
    if (validateJson(question.schema, response).length === 0) return { kind: 'answer', question, response }
  }
  const plain = plainAnswer(question.schema, statement.text)
  if (plain !== undefined) return { kind: 'answer', question, response: plain }
  const whole = wantsForm(question.schema)
  const requirements: Requirement[] = whole
    ? requirementsOf(question.schema)
    : [
        {
          name: 'answer',
          description: question.question,
          ...(isObject(question.schema) && { schema: question.schema }),
        },
      ]
  const given = whole ? withFiles(requirements, question.values ?? {}, files) : (question.values ?? {})
  const { values, missing } = await extract({
    message: statement.text,
    requirements,
    known: given,
    asked: question.asked ?? requirements[0]!.name,
    timeZone: statement.timeZone,
    now: statement.now,
    modelSettings: modelSettingsOf(thread, voice),
    ...(statement.signal && { signal: statement.signal }),
  })
  const response = whole ? values : own(values, 'answer')
  if (response !== undefined && validateJson(question.schema, response).length === 0)
    return { kind: 'answer', question, response }
  if (leaves) return aside
  const next = requirements.find(({ name }) => missing.includes(name)) ?? requirements[0]!
  return {
    kind: 'ask_again',
    question: whole ? { ...question, values, asked: next.name } : question,
    texts: whole
      ? [texts.askFor(say, next)]
      : [say.notUnderstood, texts.questionText(say, question.question, question.schema)],
  }
}

/**
 * Returns text if the schema accepts text, or parsed JSON from a program. Undefined if the message must be
 * interpreted.
 */
function plainAnswer(schema: Json, text: string): Json | undefined {
  if (!isForObject(schema) && validateJson(schema, text).length === 0) return text
  try {
    const value = JSON.parse(text) as Json
    return validateJson(schema, value).length === 0 ? value : undefined
  } catch {
    return undefined
  }
}
