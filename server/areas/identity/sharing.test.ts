import { beforeAll, describe, expect, test } from 'vitest'
import { makeAccepting } from '#areas/identity/accept'
import { makeInvitations } from '#areas/identity/invitations'
import { keepMail } from '#areas/identity/mail'
import { makePeople } from '#areas/identity/people'
import { type Context, makeContext, type WorkspaceRole } from '#platform/http/context'
import { newId, toWire } from '#platform/ids'
import { freshEmail, PASSWORD } from '#test/harness/browser'
import { useSharedService } from '#test/harness/service'
import { makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

// Threads and jobs are shared with these functions. The test uses its own area in their place.

const service = useSharedService()
let world: World
const joined: { resourceId: string; userId: string; role: string }[] = []
const invitations = makeInvitations({
  checkMembers: async () => {},
  requireVerified: async () => {},
  sendMail: keepMail,
  onAccepted: {
    thread: async (_tx, { resourceId, userId, role }) => {
      joined.push({ resourceId, userId, role })
    },
  },
})
beforeAll(async () => {
  world = await makeWorld(service())
})

async function as<T>(person: TestPerson | null, role: WorkspaceRole, work: (ctx: Context) => Promise<T>): Promise<T> {
  const [org] = await service().sql<{ org_id: string; name: string }>('select org_id, name from orgs')
  const { db, config, base } = service()
  const workspace = person && { workspace_id: world.workspace.uuid, role }
  return db.tenant({ workspaceId: workspace?.workspace_id ?? null, userId: person?.uuid ?? null }, (tx) =>
    work(
      makeContext({
        requestId: 'r',
        config,
        org: org!,
        credential: { kind: 'none' },
        maybePerson: person && {
          user_id: person.uuid,
          org_id: org!.org_id,
          email: person.email,
          name: person.name,
          operator: false,
        },
        maybeWorkspace: workspace,
        maybeTx: tx,
        db,
        log: service().app.http.log as never,
        address: '127.0.0.1',
        baseUrl: base,
        idempotencyKey: null,
        language: null,
        traceparent: null,
        hungUp: () => new AbortController().signal,
        leavePlace: () => {},
        awaitCommit: () => {},
        status: () => {},
        header: () => {},
        afterCommit: () => {},
      }),
    ),
  )
}

const invite = (email: string, thread: string, role = 'viewer') =>
  as(world.owner, 'owner', (ctx) =>
    invitations.invite(ctx, { email, role, to: 'The thread', resource: { kind: 'thread', id: thread } }),
  )

describe('sharing one resource', () => {
  test('adds a member of the workspace at once', async () => {
    const thread = newId()
    const answer = await invite(world.member.email, thread)
    expect(answer).toEqual({
      invitation_id: expect.any(String),
      email: world.member.email,
      role: 'viewer',
      state: 'added',
    })
    expect(joined.at(-1)).toEqual({ resourceId: thread, userId: world.member.uuid, role: 'viewer' })
    expect((await world.member.call('GET', '/auth/me')).body.workspaces[0].role).toBe('member')
  })

  test('invites other people to the resource only, and makes them guests of the workspace', async () => {
    const thread = newId()
    const answer = await invite(freshEmail(), thread, 'member')
    expect(answer.state).toBe('invited')
    const before = joined.length
    const accepting = makeAccepting({
      invitations,
      people: makePeople({ config: service().config, sendMail: keepMail }),
    })
    const token = answer.link!.split('/').at(-1)!
    const accepted = await as(null, 'guest', (ctx) =>
      accepting.acceptInvitation(ctx, { token, name: 'Gast', password: PASSWORD }, {
        request: { headers: {}, host: 'localhost', hostname: 'localhost', protocol: 'http' },
      } as never),
    )
    expect(accepted.workspace).toMatchObject({ workspace_id: world.workspace.uuid, role: 'guest' })
    expect(accepted.resource).toEqual({ kind: 'thread', id: toWire('thr', thread) })
    expect(joined.slice(before)).toEqual([{ resourceId: thread, userId: accepted.user.user_id, role: 'member' }])
  })

  test('revokes a person’s invitations to a resource when the person loses the right to it', async () => {
    const [one, other] = [newId(), newId()]
    await invite(freshEmail(), one)
    await invite(freshEmail(), other)
    await as(world.owner, 'owner', (ctx) =>
      invitations.revokeOf(ctx.tx, world.workspace.uuid, world.owner.uuid, { resourceId: one }),
    )
    const left = await service().sql<{ resource_id: string }>(
      'select resource_id from invitations where resource_id = any($1) and accepted_at is null',
      [[one, other]],
    )
    expect(left).toEqual([{ resource_id: other }])
  })

  test('does not replace an invitation to the workspace', async () => {
    const person = await makePerson(service())
    const whole = await as(world.owner, 'owner', (ctx) =>
      invitations.invite(ctx, { email: person.email, role: 'member', to: 'Home' }),
    )
    await invite(person.email, newId())
    const answer = await person.call('POST', `/auth${new URL(whole.link!).pathname}/accept`)
    expect(answer.body.workspace.role).toBe('member')
  })
})
