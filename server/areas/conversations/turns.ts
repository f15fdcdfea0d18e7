import type { Questions } from '#areas/approvals/questions'
import { requirementsOf } from '#areas/requirements/extract'
import { validateJson } from '#model/json-schema'
import { systemClock } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { problem, unknownReference } from '#platform/errors'
import type { CarryOut, PendingTurn } from './carry-out.ts'
import { readStandings } from './execution-store.ts'
import { type FormRow, findForm, findOpenForm, formOf } from './form-store.ts'
import { lastMessages, messagesOfRequest, type NewMessage, saveTurn } from './message-store.ts'
import { type Offer, readSurroundings, type Surroundings, surroundingsOf } from './offer-store.ts'
import { greet, threadOf } from './opening.ts'
import { tellHolder } from './takeover.ts'
import * as texts from './texts.ts'
import {
  type Decision,
  fitting,
  goneFrom,
  inputOf,
  missingOf,
  type Situation,
  type Statement,
  type Tools,
  think,
} from './think.ts'
import { findThreadOfRequest, type LockedThread, lockThread, readThread } from './thread-store.ts'
import { byline, gatheredOf, questionOf, refuseWrong } from './turn-parts.ts'
import type { FirstMessage, FormAction, Incoming, Message, Respond, Turn } from './types.ts'
import type { Updates } from './updates.ts'

// One turn: a message and its answer. Both are stored in one transaction that locks the thread. Turns happen one after the
// other, and a killed server leaves a whole turn or nothing.

/** After this many turns of others came first, rules read the message while the thread is locked. */
const MAX_ATTEMPTS = 4
const RECENT = 12

const scope = (workspaceId: string) => ({ workspaceId, userId: null })

export function makeTurns(options: {
  db: Database
  carrying: CarryOut
  updates: Updates
  tools: Tools
  rules: Tools
  /** A model takes seconds, so it reads the message before the thread is locked. */
  thinksSlowly(): boolean
  afterCommit(pending: PendingTurn): void
  isForPerson: Questions['isForPerson']
}) {
  const { db, carrying, updates } = options

  /** Started executions are counted after the commit. */
  async function doing<T>(
    { workspaceId, within }: Pick<Incoming, 'workspaceId' | 'within'>,
    work: (tx: Tx, pendingTurns: PendingTurn[]) => Promise<T>,
  ): Promise<T> {
    const pendingTurns: PendingTurn[] = []
    const done = (): void => pendingTurns.forEach(options.afterCommit)
    const result = within
      ? await work(within.tx, pendingTurns)
      : await db.tenant(scope(workspaceId), (tx) => work(tx, pendingTurns))
    if (within) within.afterCommit(done)
    else done()
    return result
  }

  type Place = Pick<Incoming, 'workspaceId' | 'threadId' | 'isTheirs' | 'requestKey'>

  /** Locks the thread and reads what the turn needs, in one round trip. `before`: the turn of a repeated delivery. */
  async function hold(tx: Tx, { workspaceId, threadId, isTheirs, requestKey }: Place) {
    const [thread, statement, around] = await Promise.all([
      lockThread(tx, workspaceId, threadId),
      requestKey ? messagesOfRequest(tx, workspaceId, threadId, requestKey) : [],
      readSurroundings(tx, workspaceId, threadId),
    ])
    if (!thread || isTheirs?.(thread) === false) throw problem('not_found')
    return { thread, around, before: statement.length > 0 ? repeated(thread, around, statement) : undefined }
  }

  const repeated = (thread: LockedThread, around: Surroundings, [message, ...messages]: Message[]): Turn => ({
    thread,
    message: message!,
    messages,
    form: around.form && formOf(around.form),
    execution_id: messages.find(({ execution_id }) => execution_id !== null)?.execution_id ?? null,
    last_execution_id: thread.state.started?.execution_id ?? null,
    gathered: gatheredOf(thread, around.offers),
  })

  const begin = ({ thread, form }: { thread: LockedThread; form: FormRow | null }, first: NewMessage): PendingTurn => {
    thread.turn += 1
    return { thread, messages: [first], writes: [], form, executionId: null, started: 0 }
  }

  /** Writes the messages, the state and everything else of the turn in one round trip. */
  async function finish(tx: Tx, pending: PendingTurn, offers: Offer[], greeting?: NewMessage[]): Promise<Turn> {
    const [saved] = await Promise.all([
      saveTurn(tx, pending.thread, [...(greeting ?? []), ...pending.messages], greeting !== undefined),
      ...pending.writes.map((write) => write(tx)),
    ])
    const [message, ...messages] = saved.slice(greeting?.length ?? 0)
    return {
      thread: pending.thread,
      message: message!,
      messages,
      form: pending.form && formOf(pending.form),
      execution_id: pending.executionId,
      last_execution_id: pending.thread.state.started?.execution_id ?? null,
      gathered: gatheredOf(pending.thread, offers),
    }
  }

  const statementOf = ({ text, timeZone, signal }: Pick<Incoming, 'text' | 'timeZone' | 'signal'>): Statement => ({
    text,
    timeZone: timeZone ?? 'UTC',
    now: systemClock.now(),
    ...(signal && { signal }),
  })

  /**
   * Checks a decision that was made before the thread was locked. Returns undefined where it has to be made again. A
   * message of somebody who may not answer the question is talk among people.
   */
  async function settle(
    tx: Tx,
    { thread, offers }: Situation,
    decision: Decision,
    { author }: Incoming,
  ): Promise<Decision | undefined> {
    if ('offer' in decision) {
      const offer = offers.find(({ workflow_id }) => workflow_id === decision.offer.workflow_id)
      if (!offer) return goneFrom(offers)
      return offer.version_id === decision.offer.version_id ? { ...decision, offer } : undefined
    }
    if (!('question' in decision) || author.kind !== 'person') return decision
    const { clarification_id } = decision.question
    const theirs = await options.isForPerson(tx, thread.workspace_id, author.userId, clarification_id)
    return theirs ? decision : { kind: 'silent' }
  }

  async function takeMessage(incoming: Incoming): Promise<Turn> {
    const { workspaceId, threadId } = incoming
    const statement = statementOf(incoming)
    for (let attempt = 1; ; attempt++) {
      const slow = incoming.within === undefined && options.thinksSlowly() && attempt <= MAX_ATTEMPTS
      const seen = slow ? await lookAhead(incoming) : undefined
      const thought = seen && (await think(seen, statement, options.tools))
      const turn = await doing(incoming, async (tx, pendingTurns) => {
        const { thread, around, before } = await hold(tx, incoming)
        if (before) return before
        if (seen && seen.thread.last_seq !== thread.last_seq) return undefined
        await updates.dropClosed(tx, thread)
        const { standings, told } = await updates.tellEnds(tx, thread)
        const now = told ? await readSurroundings(tx, workspaceId, threadId) : around
        const situation: Situation = { thread, ...now, standings, recent: [] }
        const decision = await settle(
          tx,
          situation,
          thought ?? (await think(situation, statement, options.rules)),
          incoming,
        )
        if (!decision) return undefined
        const pending = begin(situation, { ...byline(incoming), text: incoming.text })
        pendingTurns.push(pending)
        carrying.closeStale(pending)
        await carrying.carryOut(tx, pending, decision, incoming, situation.offers)
        tellHolder(pending)
        return finish(tx, pending, situation.offers)
      })
      if (turn) return turn
    }
  }

  /**
   * The conversation and its first turn are written together. Where a model reads the message, the conversation is written
   * first.
   */
  async function takeFirst(first: FirstMessage): Promise<Turn> {
    const { workspaceId, open, requestKey } = first
    const begun = await doing(first, async (tx, pendingTurns): Promise<Turn | string> => {
      const known = requestKey && (await findThreadOfRequest(tx, workspaceId, requestKey))
      if (known && first.isTheirs(known)) return known.thread_id
      const thread = threadOf(open)
      const around = await surroundingsOf(tx, workspaceId, thread)
      const greeting = greet(thread, around)
      if (first.within === undefined && options.thinksSlowly()) {
        await saveTurn(tx, thread, greeting, true)
        return thread.thread_id
      }
      const situation: Situation = { thread, ...around, standings: [], recent: [] }
      const decision = await think(situation, statementOf(first), options.rules)
      const pending = begin(situation, { ...byline(first), text: first.text })
      pendingTurns.push(pending)
      await carrying.carryOut(tx, pending, decision, first, around.offers)
      return finish(tx, pending, around.offers, greeting)
    })
    return typeof begun === 'string' ? takeMessage({ ...first, threadId: begun }) : begun
  }

  const lookAhead = ({ workspaceId, threadId, isTheirs }: Incoming): Promise<Situation> =>
    db.tenant(scope(workspaceId), async (tx) => {
      const [thread, around, recent] = await Promise.all([
        readThread(tx, workspaceId, threadId),
        readSurroundings(tx, workspaceId, threadId),
        lastMessages(tx, workspaceId, threadId, RECENT),
      ])
      if (!thread || isTheirs?.(thread) === false) throw problem('not_found')
      await updates.dropClosed(tx, thread)
      const ids = thread.state.running.map(({ execution_id }) => execution_id)
      const standings = ids.length === 0 ? [] : await readStandings(tx, workspaceId, ids)
      return { thread, ...around, standings, recent }
    })

  async function takeAction(action: FormAction): Promise<Turn> {
    const { workspaceId, threadId } = action
    return doing(action, async (tx, pendingTurns) => {
      const { thread, around, before } = await hold(tx, action)
      if (before) return before
      const form =
        around.form?.form_id === action.formId ? around.form : await findForm(tx, workspaceId, threadId, action.formId)
      if (!form) throw unknownReference('/form_id')
      if (form.status !== 'open')
        throw problem('form_closed', `The form was already ${form.status}. Write a message to go on.`)
      await updates.dropClosed(tx, thread)
      const { offers } = around
      const values = action.values ?? {}
      const text = action.action === 'cancel' ? 'Cancelled.' : texts.submittedText(values, requirementsOf(form.schema))
      const pending = begin({ thread, form: around.form }, { ...byline(action), text })
      pendingTurns.push(pending)
      if (action.action === 'cancel') cancelForm(pending, form, offers)
      else await submitForm(tx, pending, form, { ...action, values }, offers)
      return finish(tx, pending, offers)
    })
  }

  function cancelForm(pending: PendingTurn, form: FormRow, offers: Offer[]): void {
    const { thread } = pending
    carrying.closeForm(pending, 'cancelled')
    if (form.kind === 'question') {
      const question = questionOf(thread, form)
      if (question) carrying.say(pending, texts.questionText(question.question, question.schema))
      return
    }
    thread.state = { ...thread.state, gathering: null, offered: offers.map(({ workflow_id }) => workflow_id) }
    carrying.say(pending, texts.CANCELLED)
    carrying.say(pending, texts.menu(offers))
  }

  async function submitForm(
    tx: Tx,
    pending: PendingTurn,
    form: FormRow,
    action: FormAction & { values: NonNullable<FormAction['values']> },
    offers: Offer[],
  ): Promise<void> {
    const { thread } = pending
    if (form.kind === 'question') {
      const question = questionOf(thread, form)
      if (question) refuseWrong(form.schema, action.values)
      const taken = question && (await carrying.answer(tx, pending, question, action.values, action))
      if (!question) carrying.closeForm(pending, 'cancelled')
      carrying.say(pending, taken ? texts.ANSWERED : texts.ANSWERED_ELSEWHERE)
      return carrying.remind(pending, offers)
    }
    const wanted = thread.state.gathering?.workflow_id
    const offer = offers.find(({ workflow_id }) => workflow_id === wanted)
    if (!offer) {
      thread.state = { ...thread.state, gathering: null, offered: offers.map(({ workflow_id }) => workflow_id) }
      carrying.closeForm(pending, 'cancelled')
      carrying.say(pending, texts.GONE)
      carrying.say(pending, texts.menu(offers))
      return
    }
    const input = inputOf(offer, action.values)
    // The workflow may have another version than the form was made from.
    const changed = JSON.stringify(offer.inputs ?? { type: 'object' }) !== JSON.stringify(form.schema)
    if (changed && validateJson(offer.inputs ?? true, input).length > 0) {
      const values = fitting(action.values, requirementsOf(offer.inputs ?? true))
      const [first] = missingOf(offer, values)
      thread.state = {
        ...thread.state,
        gathering: { workflow_id: offer.workflow_id, values, asked: first?.name ?? null },
      }
      carrying.say(pending, texts.FORM_CHANGED)
      return carrying.showInputs(pending, offer, values)
    }
    refuseWrong(offer.inputs ?? true, input)
    if (!(await carrying.start(tx, pending, offer, input, action))) carrying.say(pending, texts.NOT_NOW)
  }

  /** An answer given by id instead of in words. It appears in the history like any other. */
  async function respond(given: Respond): Promise<{ clarification_id: string }> {
    const { workspaceId, threadId } = given
    return doing(given, async (tx, pendingTurns) => {
      const thread = await lockThread(tx, workspaceId, threadId)
      if (!thread || given.isTheirs?.(thread) === false) throw problem('not_found')
      const asked = thread.state.questions.filter(({ root_id }) => root_id === given.executionId)
      const question = asked.find(
        ({ clarification_id }) => given.clarificationId === undefined || clarification_id === given.clarificationId,
      )
      const form = (await findOpenForm(tx, workspaceId, threadId)) ?? null
      const pending = begin({ thread, form }, { ...byline(given), text: texts.resultText(given.response) })
      pendingTurns.push(pending)
      // The approvals area refuses a question that is not open, with its reason.
      const done = await carrying.give(tx, pending, given, {
        execution_id: question?.execution_id ?? given.executionId,
        clarification_id: question?.clarification_id ?? given.clarificationId,
      })
      await finish(tx, pending, [])
      return done
    })
  }

  return { takeMessage, takeFirst, takeAction, respond }
}
