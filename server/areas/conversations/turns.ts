import type { Questions } from '#areas/approvals/questions'
import { requirementsOf } from '#areas/requirements/extract'
import { validateJson } from '#model/json-schema'
import { systemClock } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { problem, unknownReference } from '#platform/errors'
import type { CarryOut, Deed } from './carry-out.ts'
import { readStandings } from './execution-store.ts'
import { type FormRow, findForm, findOpenForm, formOf } from './form-store.ts'
import { lastMessages, messagesOfRequest, type NewMessage, saveTurn } from './message-store.ts'
import type { News } from './news.ts'
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
  type Said,
  type Situation,
  type Tools,
  think,
} from './think.ts'
import { findThreadOfRequest, type Held, lockThread, readThread } from './thread-store.ts'
import { byline, gatheredOf, questionOf, refuseWrong } from './turn-parts.ts'
import type { FirstMessage, FormAction, Incoming, Message, Respond, Turn } from './types.ts'

// One turn: somebody says something, and is answered. Both are stored in one transaction that holds the thread, so turns
// happen one after the other and a killed server leaves either all of a turn or nothing.

/** After so many others were faster, the message is read by rules while the thread is held. */
const MAX_ATTEMPTS = 4
const RECENT = 12

const scope = (workspaceId: string) => ({ workspaceId, userId: null })

export function makeTurns(options: {
  db: Database
  carrying: CarryOut
  news: News
  tools: Tools
  rules: Tools
  /** A model takes seconds: then the message is read before the thread is held. */
  thinksSlowly(): boolean
  afterCommit(deed: Deed): void
  isForPerson: Questions['isForPerson']
}) {
  const { db, carrying, news } = options

  /** What was started is counted once it is true. */
  async function doing<T>(
    { workspaceId, within }: Pick<Incoming, 'workspaceId' | 'within'>,
    work: (tx: Tx, deeds: Deed[]) => Promise<T>,
  ): Promise<T> {
    const deeds: Deed[] = []
    const done = (): void => deeds.forEach(options.afterCommit)
    const result = within ? await work(within.tx, deeds) : await db.tenant(scope(workspaceId), (tx) => work(tx, deeds))
    if (within) within.afterCommit(done)
    else done()
    return result
  }

  type Place = Pick<Incoming, 'workspaceId' | 'threadId' | 'isTheirs' | 'requestKey'>

  /** Takes hold of the thread and looks around, in one round trip. `before`: the turn of a delivery that is repeated. */
  async function hold(tx: Tx, { workspaceId, threadId, isTheirs, requestKey }: Place) {
    const [held, said, around] = await Promise.all([
      lockThread(tx, workspaceId, threadId),
      requestKey ? messagesOfRequest(tx, workspaceId, threadId, requestKey) : [],
      readSurroundings(tx, workspaceId, threadId),
    ])
    if (!held || isTheirs?.(held) === false) throw problem('not_found')
    return { held, around, before: said.length > 0 ? repeated(held, around, said) : undefined }
  }

  const repeated = (held: Held, around: Surroundings, [message, ...messages]: Message[]): Turn => ({
    thread: held,
    message: message!,
    messages,
    form: around.form && formOf(around.form),
    execution_id: messages.find(({ execution_id }) => execution_id !== null)?.execution_id ?? null,
    last_execution_id: held.state.started?.execution_id ?? null,
    gathered: gatheredOf(held, around.offers),
  })

  const begin = ({ held, form }: { held: Held; form: FormRow | null }, first: NewMessage): Deed => {
    held.turn += 1
    return { held, said: [first], writes: [], form, executionId: null, started: 0 }
  }

  /** Writes what was said, where the conversation stands now and all that came of it, in one round trip. */
  async function finish(tx: Tx, deed: Deed, offers: Offer[], greeting?: NewMessage[]): Promise<Turn> {
    const [saved] = await Promise.all([
      saveTurn(tx, deed.held, [...(greeting ?? []), ...deed.said], greeting !== undefined),
      ...deed.writes.map((write) => write(tx)),
    ])
    const [message, ...messages] = saved.slice(greeting?.length ?? 0)
    return {
      thread: deed.held,
      message: message!,
      messages,
      form: deed.form && formOf(deed.form),
      execution_id: deed.executionId,
      last_execution_id: deed.held.state.started?.execution_id ?? null,
      gathered: gatheredOf(deed.held, offers),
    }
  }

  const saidBy = ({ text, timeZone, signal }: Pick<Incoming, 'text' | 'timeZone' | 'signal'>): Said => ({
    text,
    timeZone: timeZone ?? 'UTC',
    now: systemClock.now(),
    ...(signal && { signal }),
  })

  /**
   * What was thought before the thread was held, as things stand now; undefined where it is to be thought over again. What
   * somebody says who may not answer the question is talk among people.
   */
  async function settle(
    tx: Tx,
    { held, offers }: Situation,
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
    const theirs = await options.isForPerson(tx, held.workspace_id, author.userId, clarification_id)
    return theirs ? decision : { kind: 'silent' }
  }

  async function takeMessage(incoming: Incoming): Promise<Turn> {
    const { workspaceId, threadId } = incoming
    const said = saidBy(incoming)
    for (let attempt = 1; ; attempt++) {
      const slow = incoming.within === undefined && options.thinksSlowly() && attempt <= MAX_ATTEMPTS
      const seen = slow ? await lookAhead(incoming) : undefined
      const thought = seen && (await think(seen, said, options.tools))
      const turn = await doing(incoming, async (tx, deeds) => {
        const { held, around, before } = await hold(tx, incoming)
        if (before) return before
        if (seen && seen.held.last_seq !== held.last_seq) return undefined
        await news.dropClosed(tx, held)
        const { standings, told } = await news.tellEnds(tx, held)
        const now = told ? await readSurroundings(tx, workspaceId, threadId) : around
        const situation: Situation = { held, ...now, standings, recent: [] }
        const decision = await settle(tx, situation, thought ?? (await think(situation, said, options.rules)), incoming)
        if (!decision) return undefined
        const deed = begin(situation, { ...byline(incoming), text: incoming.text })
        deeds.push(deed)
        carrying.closeStale(deed)
        await carrying.carryOut(tx, deed, decision, incoming, situation.offers)
        tellHolder(deed)
        return finish(tx, deed, situation.offers)
      })
      if (turn) return turn
    }
  }

  /** The conversation and its first turn are written together; where a model thinks, the conversation is there before it. */
  async function takeFirst(first: FirstMessage): Promise<Turn> {
    const { workspaceId, open, requestKey } = first
    const begun = await doing(first, async (tx, deeds): Promise<Turn | string> => {
      const known = requestKey && (await findThreadOfRequest(tx, workspaceId, requestKey))
      if (known && first.isTheirs(known)) return known.thread_id
      const held = threadOf(open)
      const around = await surroundingsOf(tx, workspaceId, held)
      const greeting = greet(held, around)
      if (first.within === undefined && options.thinksSlowly()) {
        await saveTurn(tx, held, greeting, true)
        return held.thread_id
      }
      const situation: Situation = { held, ...around, standings: [], recent: [] }
      const decision = await think(situation, saidBy(first), options.rules)
      const deed = begin(situation, { ...byline(first), text: first.text })
      deeds.push(deed)
      await carrying.carryOut(tx, deed, decision, first, around.offers)
      return finish(tx, deed, around.offers, greeting)
    })
    return typeof begun === 'string' ? takeMessage({ ...first, threadId: begun }) : begun
  }

  const lookAhead = ({ workspaceId, threadId, isTheirs }: Incoming): Promise<Situation> =>
    db.tenant(scope(workspaceId), async (tx) => {
      const [held, around, recent] = await Promise.all([
        readThread(tx, workspaceId, threadId),
        readSurroundings(tx, workspaceId, threadId),
        lastMessages(tx, workspaceId, threadId, RECENT),
      ])
      if (!held || isTheirs?.(held) === false) throw problem('not_found')
      await news.dropClosed(tx, held)
      const ids = held.state.running.map(({ execution_id }) => execution_id)
      const standings = ids.length === 0 ? [] : await readStandings(tx, workspaceId, ids)
      return { held, ...around, standings, recent }
    })

  async function takeAction(action: FormAction): Promise<Turn> {
    const { workspaceId, threadId } = action
    return doing(action, async (tx, deeds) => {
      const { held, around, before } = await hold(tx, action)
      if (before) return before
      const form =
        around.form?.form_id === action.formId ? around.form : await findForm(tx, workspaceId, threadId, action.formId)
      if (!form) throw unknownReference('/form_id')
      if (form.status !== 'open')
        throw problem('form_closed', `The form was already ${form.status}. Write a message to go on.`)
      await news.dropClosed(tx, held)
      const { offers } = around
      const values = action.values ?? {}
      const text = action.action === 'cancel' ? 'Cancelled.' : texts.submittedText(values, requirementsOf(form.schema))
      const deed = begin({ held, form: around.form }, { ...byline(action), text })
      deeds.push(deed)
      if (action.action === 'cancel') cancelForm(deed, form, offers)
      else await submitForm(tx, deed, form, { ...action, values }, offers)
      return finish(tx, deed, offers)
    })
  }

  function cancelForm(deed: Deed, form: FormRow, offers: Offer[]): void {
    const { held } = deed
    carrying.closeForm(deed, 'cancelled')
    if (form.kind === 'question') {
      const question = questionOf(held, form)
      if (question) carrying.say(deed, texts.questionText(question.question, question.schema))
      return
    }
    held.state = { ...held.state, gathering: null, offered: offers.map(({ workflow_id }) => workflow_id) }
    carrying.say(deed, texts.CANCELLED)
    carrying.say(deed, texts.menu(offers))
  }

  async function submitForm(
    tx: Tx,
    deed: Deed,
    form: FormRow,
    action: FormAction & { values: NonNullable<FormAction['values']> },
    offers: Offer[],
  ): Promise<void> {
    const { held } = deed
    if (form.kind === 'question') {
      const question = questionOf(held, form)
      if (question) refuseWrong(form.schema, action.values)
      const taken = question && (await carrying.answer(tx, deed, question, action.values, action))
      if (!question) carrying.closeForm(deed, 'cancelled')
      carrying.say(deed, taken ? texts.ANSWERED : texts.ANSWERED_ELSEWHERE)
      return carrying.remind(deed, offers)
    }
    const wanted = held.state.gathering?.workflow_id
    const offer = offers.find(({ workflow_id }) => workflow_id === wanted)
    if (!offer) {
      held.state = { ...held.state, gathering: null, offered: offers.map(({ workflow_id }) => workflow_id) }
      carrying.closeForm(deed, 'cancelled')
      carrying.say(deed, texts.GONE)
      carrying.say(deed, texts.menu(offers))
      return
    }
    const input = inputOf(offer, action.values)
    // The workflow may have another version than the one the form was made from.
    const changed = JSON.stringify(offer.inputs ?? { type: 'object' }) !== JSON.stringify(form.schema)
    if (changed && validateJson(offer.inputs ?? true, input).length > 0) {
      const values = fitting(action.values, requirementsOf(offer.inputs ?? true))
      const [first] = missingOf(offer, values)
      held.state = { ...held.state, gathering: { workflow_id: offer.workflow_id, values, asked: first?.name ?? null } }
      carrying.say(deed, texts.FORM_CHANGED)
      return carrying.showInputs(deed, offer, values)
    }
    refuseWrong(offer.inputs ?? true, input)
    if (!(await carrying.start(tx, deed, offer, input, action))) carrying.say(deed, texts.NOT_NOW)
  }

  /** An answer given by its name instead of in words: it stands in the history like any other. */
  async function respond(given: Respond): Promise<{ clarification_id: string }> {
    const { workspaceId, threadId } = given
    return doing(given, async (tx, deeds) => {
      const held = await lockThread(tx, workspaceId, threadId)
      if (!held || given.isTheirs?.(held) === false) throw problem('not_found')
      const asked = held.state.questions.filter(({ root_id }) => root_id === given.executionId)
      const question = asked.find(
        ({ clarification_id }) => given.clarificationId === undefined || clarification_id === given.clarificationId,
      )
      const form = (await findOpenForm(tx, workspaceId, threadId)) ?? null
      const deed = begin({ held, form }, { ...byline(given), text: texts.resultText(given.response) })
      deeds.push(deed)
      // One that is not among the open ones is refused by whoever keeps the questions, with its reason.
      const done = await carrying.give(tx, deed, given, {
        execution_id: question?.execution_id ?? given.executionId,
        clarification_id: question?.clarification_id ?? given.clarificationId,
      })
      await finish(tx, deed, [])
      return done
    })
  }

  return { takeMessage, takeFirst, takeAction, respond }
}
