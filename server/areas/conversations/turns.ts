import { requirementsOf } from '#areas/requirements/extract'
import { validateJson } from '#model/json-schema'
import { systemClock } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { invalid, problem, unknownReference } from '#platform/errors'
import type { CarryOut, Deed } from './carry-out.ts'
import type { News } from './news.ts'
import * as store from './store.ts'
import * as texts from './texts.ts'
import { type Decision, inputOf, missingOf, type Situation, type Tools, think } from './think.ts'
import type { FormAction, Incoming, Respond, Turn } from './types.ts'

// One turn: somebody says something, and is answered. Both are stored in one transaction that holds the thread, so turns
// happen one after the other and a killed server leaves either all of a turn or nothing.

/** After so many others were faster, the message is read by rules while the thread is held. */
const MOST_ATTEMPTS = 4
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
}) {
  const { db, carrying, news } = options

  async function situationOf(tx: Tx, held: store.Held, recent: number): Promise<Situation> {
    const { workspace_id, thread_id, template_id, state } = held
    const [voice, offers, form, standings, said] = await Promise.all([
      template_id === null ? undefined : store.findVoice(tx, workspace_id, template_id),
      offersOf(tx, held),
      store.findOpenForm(tx, workspace_id, thread_id),
      state.running.length === 0
        ? []
        : store.readStandings(
            tx,
            workspace_id,
            state.running.map(({ execution_id }) => execution_id),
          ),
      recent === 0 ? [] : store.lastMessages(tx, workspace_id, thread_id, recent),
    ])
    return { held, voice, offers, form: form ?? null, standings, recent: said }
  }

  async function hold(
    tx: Tx,
    { workspaceId, threadId, isTheirs }: Pick<Incoming, 'workspaceId' | 'threadId' | 'isTheirs'>,
  ): Promise<store.Held> {
    const held = await store.lockThread(tx, workspaceId, threadId)
    if (!held || isTheirs?.(held) === false) throw problem('not_found')
    return held
  }

  /** The turn that this delivery already had, where it is a repetition. */
  async function repeated(tx: Tx, held: store.Held, key: Buffer | undefined): Promise<Turn | undefined> {
    const found = key && (await store.findTurn(tx, held.workspace_id, held.thread_id, key))
    if (!found) return undefined
    const [message, ...messages] = await store.messagesOfTurn(tx, held.workspace_id, held.thread_id, found.turn)
    return {
      message: message!,
      messages,
      form: await store.openForm(tx, held.workspace_id, held.thread_id),
      execution_id: messages.find(({ execution_id }) => execution_id !== null)?.execution_id ?? null,
      gathered: gatheredOf(held, await offersOf(tx, held)),
    }
  }

  const begin = ({ held, form }: Pick<Situation, 'held' | 'form'>, first: store.NewMessage): Deed => {
    held.turn += 1
    return { held, said: [first], form, executionId: null, started: [], answered: [] }
  }

  /** Writes what was said and where the conversation stands now, in one statement. */
  async function finish(tx: Tx, deed: Deed, offers: store.Offer[]): Promise<Turn> {
    const [message, ...messages] = await store.saveTurn(tx, deed.held, deed.said)
    return {
      message: message!,
      messages,
      form: deed.form && store.formOf(deed.form),
      execution_id: deed.executionId,
      gathered: gatheredOf(deed.held, offers),
    }
  }

  async function takeMessage(incoming: Incoming): Promise<Turn> {
    const { workspaceId } = incoming
    const said = {
      text: incoming.text,
      timeZone: incoming.timeZone ?? 'UTC',
      now: systemClock.now(),
      ...(incoming.signal && { signal: incoming.signal }),
    }
    for (let attempt = 1; ; attempt++) {
      const slow = options.thinksSlowly() && attempt <= MOST_ATTEMPTS
      const seen = slow ? await lookAhead(incoming) : undefined
      const thought = seen && (await think(seen, said, options.tools))
      const deeds: Deed[] = []
      const turn = await db.tenant(scope(workspaceId), async (tx) => {
        const held = await hold(tx, incoming)
        const before = await repeated(tx, held, incoming.requestKey)
        if (before) return before
        if (seen && seen.held.last_seq !== held.last_seq) return undefined
        await news.dropClosed(tx, held)
        await news.tellEnds(tx, held)
        const situation = await situationOf(tx, held, 0)
        const decision: Decision = thought ?? (await think(situation, said, options.rules))
        const deed = begin(situation, { ...byline(incoming), text: incoming.text })
        deeds.push(deed)
        await carrying.carryOut(tx, deed, decision, incoming, situation.offers)
        return finish(tx, deed, situation.offers)
      })
      if (!turn) continue
      deeds.forEach(options.afterCommit)
      return turn
    }
  }

  const lookAhead = ({ workspaceId, threadId, isTheirs }: Incoming): Promise<Situation> =>
    db.tenant(scope(workspaceId), async (tx) => {
      const held = await store.readThread(tx, workspaceId, threadId)
      if (!held || isTheirs?.(held) === false) throw problem('not_found')
      await news.dropClosed(tx, held)
      return situationOf(tx, held, RECENT)
    })

  async function takeAction(action: FormAction): Promise<Turn> {
    const { workspaceId, threadId } = action
    const deeds: Deed[] = []
    const turn = await db.tenant(scope(workspaceId), async (tx) => {
      const held = await hold(tx, action)
      const before = await repeated(tx, held, action.requestKey)
      if (before) return before
      const form = await store.findForm(tx, workspaceId, threadId, action.formId)
      if (!form) throw unknownReference('/form_id')
      if (form.status !== 'open')
        throw problem('form_closed', `The form was already ${form.status}. Write a message to go on.`)
      const situation = await situationOf(tx, held, 0)
      const values = action.values ?? {}
      if (action.action === 'submit') refuseWrong(form.schema, values)
      const text = action.action === 'cancel' ? 'Cancelled.' : texts.submittedText(values, requirementsOf(form.schema))
      const deed = begin(situation, { ...byline(action), text })
      deeds.push(deed)
      await (action.action === 'cancel'
        ? cancelForm(tx, deed, form, situation)
        : submitForm(tx, deed, form, { ...action, values }, situation))
      return finish(tx, deed, situation.offers)
    })
    deeds.forEach(options.afterCommit)
    return turn
  }

  async function cancelForm(tx: Tx, deed: Deed, form: store.FormRow, { offers }: Situation): Promise<void> {
    const { held } = deed
    await carrying.closeForm(tx, deed, 'cancelled')
    if (form.kind === 'question') {
      const [question] = held.state.questions
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
    form: store.FormRow,
    action: FormAction & { values: NonNullable<FormAction['values']> },
    { offers }: Situation,
  ): Promise<void> {
    const { held } = deed
    if (form.kind === 'question') {
      const question = held.state.questions.find(({ schema }) => JSON.stringify(schema) === JSON.stringify(form.schema))
      const taken = question && (await carrying.answer(tx, deed, question, action.values, action))
      if (!question) await carrying.closeForm(tx, deed, 'cancelled')
      carrying.say(deed, taken ? texts.ANSWERED : texts.ANSWERED_ELSEWHERE)
      return carrying.remind(tx, deed, offers)
    }
    const wanted = held.state.gathering?.workflow_id
    const offer = offers.find(({ workflow_id }) => workflow_id === wanted)
    if (!offer) {
      held.state = { ...held.state, gathering: null, offered: offers.map(({ workflow_id }) => workflow_id) }
      await carrying.closeForm(tx, deed, 'cancelled')
      carrying.say(deed, texts.GONE)
      carrying.say(deed, texts.menu(offers))
      return
    }
    // The workflow may have another version than the one the form was made from.
    const input = inputOf(offer, action.values)
    refuseWrong(offer.inputs ?? true, input)
    if (!(await carrying.start(tx, deed, offer, input, action))) carrying.say(deed, texts.NOT_NOW)
  }

  /** An answer given by its name instead of in words: it stands in the history like any other. */
  async function respond(given: Respond): Promise<{ clarification_id: string }> {
    const { workspaceId, threadId } = given
    const deeds: Deed[] = []
    const answered = await db.tenant(scope(workspaceId), async (tx) => {
      const held = await hold(tx, given)
      const asked = held.state.questions.filter(({ root_id }) => root_id === given.executionId)
      const question = asked.find(
        ({ clarification_id }) => given.clarificationId === undefined || clarification_id === given.clarificationId,
      )
      const form = (await store.findOpenForm(tx, workspaceId, threadId)) ?? null
      const deed = begin({ held, form }, { ...byline(given), text: texts.resultText(given.response) })
      deeds.push(deed)
      // One that is not among the open ones is refused by whoever keeps the questions, with its reason.
      const done = await carrying.give(tx, deed, given, {
        execution_id: question?.execution_id ?? given.executionId,
        clarification_id: question?.clarification_id ?? given.clarificationId,
      })
      await store.saveTurn(tx, held, deed.said)
      return done
    })
    deeds.forEach(options.afterCommit)
    return answered
  }

  return { takeMessage, takeAction, respond }
}

function refuseWrong(schema: Parameters<typeof validateJson>[0], values: Parameters<typeof validateJson>[1]): void {
  const issues = validateJson(schema, values, { path: '/values' })
  if (issues.length > 0) throw invalid(issues, 'Correct the fields of the form named in errors and submit it again.')
}

export const offersOf = (tx: Tx, held: store.Held): Promise<store.Offer[]> | store.Offer[] => {
  if (held.workflow_id !== null) return store.offersOfWorkflow(tx, held.workspace_id, held.workflow_id)
  return held.template_id === null ? [] : store.offersOfTemplate(tx, held.workspace_id, held.template_id)
}

export function gatheredOf(held: store.Held, offers: store.Offer[]): Turn['gathered'] {
  const { gathering, started } = held.state
  if (!gathering) return { values: started?.values ?? {}, missing: [], complete: started !== null }
  const offer = offers.find(({ workflow_id }) => workflow_id === gathering.workflow_id)
  const missing = offer ? missingOf(offer, gathering.values).map(({ name }) => name) : []
  return { values: gathering.values, missing, complete: false }
}

/** Who said it, as the message is stored. */
function byline({ author, requestKey, ...more }: Pick<Incoming, 'author' | 'requestKey'> & { audioId?: string }) {
  const key = { request_key: requestKey ?? null, audio_id: more.audioId ?? null }
  switch (author.kind) {
    case 'person':
      return { role: 'user' as const, author_id: author.userId, author_name: author.name, ...key }
    case 'visitor':
      return { role: 'visitor' as const, ...key }
    case 'external':
      return { role: 'visitor' as const, author_name: author.name, external_author: author.id, ...key }
  }
}
