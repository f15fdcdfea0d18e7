import { beforeAll, describe, expect, test } from 'vitest'
import { freshEmail, makeBrowser, PASSWORD, signUp } from '#test/harness/browser'
import { fiftyTimes } from '#test/harness/fifty-times'
import { echoWorkflow, makeJob } from '#test/harness/jobs'
import { useService } from '#test/harness/service'
import { makePerson, makeWorld, type World } from '#test/harness/world'

const service = useService({
  env: { HEDDLE_SIGN_UP: 'invite', HEDDLE_OPERATORS: 'op@example.com', HEDDLE_BASE_URL: 'https://heddle.example' },
})
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const invite = (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
  world.owner.call('POST', `/api/workspaces/${world.workspace.id}/members/invite`, { body, headers })
const tokenOf = (answer: { body: { link: string } }) => answer.body.link.split('/').at(-1)!
const accept = (token: string, body: Record<string, unknown> = {}) =>
  service().call('POST', `/auth/invitations/${token}/accept`, { body })
const newcomer = { name: 'Nel', password: PASSWORD }

describe('an invitation', () => {
  test('returns a link under the configured address, regardless of the Host header, and is mailed', async () => {
    const email = freshEmail()
    const answer = await invite({ email: email.toUpperCase() }, { 'x-forwarded-host': 'evil.example' })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({ email, role: 'member', state: 'invited' })
    expect(answer.body.link).toMatch(/^https:\/\/heddle\.example\/invitations\/inv_\w+$/)
    const days = (Date.parse(answer.body.expires_at) - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(7)
    const [mail] = await service().sql<{ body_text: string }>(
      'select body_text from mail_outbox where $1 = any(recipient)',
      [email],
    )
    expect(mail!.body_text).toContain(answer.body.link)
    const stored = await service().sql('select invitations::text as row from invitations')
    expect(JSON.stringify(stored)).not.toContain(tokenOf(answer))
  })

  test('gives the same response for an address with and without an account', async () => {
    const person = await makePerson(service())
    const shape = ({ body }: { body: Record<string, unknown> }) => Object.keys(body).sort()
    const [known, unknown] = [await invite({ email: person.email }), await invite({ email: freshEmail() })]
    expect(shape(known)).toEqual(shape(unknown))
    expect([known.status, known.body.state]).toEqual([unknown.status, unknown.body.state])
    const nobody = await Promise.all([known, unknown].map((answer) => accept(tokenOf(answer))))
    expect(nobody.map(({ status }) => status)).toEqual([401, 401])
  })

  test('lets a new person in once with a session, although sign-up is closed', async () => {
    const email = freshEmail()
    const made = await invite({ email, role: 'viewer' })
    const browser = makeBrowser(service().base)
    const preview = await browser.call('GET', `/auth/invitations/${tokenOf(made)}`)
    expect(preview.body).toMatchObject({ email, role: 'viewer', workspace_name: 'Home', invited_by: 'Olga Owner' })
    const answer = await browser.call('POST', `/auth/invitations/${tokenOf(made)}/accept`, { body: newcomer })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      user: { email, name: 'Nel' },
      workspace: { workspace_id: world.workspace.id, role: 'viewer' },
      session: { current: true },
      resource: null,
    })
    const me = await browser.call('GET', '/auth/me')
    expect(me.body.selected_workspace_id).toBe(world.workspace.id)
    expect(me.body.workspaces).toHaveLength(1)
    expect((await accept(tokenOf(made), newcomer)).status).toBe(404)
    expect((await service().call('GET', `/auth/invitations/${tokenOf(made)}`)).status).toBe(404)
  })

  test('can be accepted only by the signed-in person with its address', async () => {
    const person = await makePerson(service())
    const token = tokenOf(await invite({ email: person.email }))
    const path = `/auth/invitations/${token}/accept`
    const other = await world.stranger.call('POST', path, { headers: { 'x-request-id': 'same' } })
    const random = await world.stranger.call('POST', '/auth/invitations/inv_nonsense/accept', {
      headers: { 'x-request-id': 'same' },
    })
    expect([other.status, other.text]).toEqual([404, random.text])
    expect((await person.call('POST', path, { body: newcomer })).status).toBe(422)
    const answer = await person.call('POST', path)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      workspace: { workspace_id: world.workspace.id, role: 'member' },
      session: null,
    })
    expect((await person.call('POST', path)).status).toBe(404)
    const heard = await world.owner.call('GET', '/api/notifications?limit=1')
    expect(heard.body.items[0]).toMatchObject({ kind: 'invitation.accepted', body: person.email })
  })

  test('is accepted once by fifty simultaneous requests, signed in or new', async () => {
    const person = await makePerson(service())
    const known = tokenOf(await invite({ email: person.email }))
    const signedIn = await fiftyTimes(() => person.call('POST', `/auth/invitations/${known}/accept`))
    expect(signedIn.map(({ status }) => status).sort()).toEqual([200, ...Array(49).fill(404)])
    const fresh = tokenOf(await invite({ email: freshEmail() }))
    const asNew = await fiftyTimes(() => accept(fresh, newcomer))
    expect(asNew.map(({ status }) => status).sort()).toEqual([201, ...Array(49).fill(404)])
  })

  test('does not give access to an existing account: the person must sign in', async () => {
    const person = await makePerson(service())
    const token = tokenOf(await invite({ email: person.email }))
    const refused = await accept(token, newcomer)
    expect([refused.status, refused.body.code]).toEqual([409, 'already_exists'])
    expect(refused.headers.getSetCookie()).toEqual([])
    expect((await person.call('POST', `/auth/invitations/${token}/accept`)).status).toBe(200)
  })

  test('is not found if it is expired, revoked, replaced or invented', async () => {
    const email = freshEmail()
    const expired = tokenOf(await invite({ email: freshEmail() }))
    await service().sql(
      `update invitations set expires_at = now() - interval '1 second' where token_hash = sha256($1)`,
      [expired],
    )
    const revoked = await invite({ email: freshEmail() })
    const invitations = `/api/workspaces/${world.workspace.id}/invitations`
    const list = await world.owner.call('GET', invitations)
    expect(list.body.items[0]).toMatchObject({ invitation_id: revoked.body.invitation_id, invited_by: world.owner.id })
    expect((await world.member.call('DELETE', `${invitations}/${revoked.body.invitation_id}`)).status).toBe(403)
    expect((await world.owner.call('DELETE', `${invitations}/${revoked.body.invitation_id}`)).status).toBe(204)
    expect((await world.owner.call('DELETE', `${invitations}/${revoked.body.invitation_id}`)).status).toBe(404)
    const replaced = tokenOf(await invite({ email, role: 'owner' }))
    await invite({ email, role: 'viewer' })
    for (const token of [expired, tokenOf(revoked), replaced, 'x', 'inv_', `inv_${'a'.repeat(1000)}`, 'null'])
      expect((await accept(token, newcomer)).status).toBe(404)
  })

  test('is void after its sender was removed or is no longer an owner', async () => {
    const rogue = await makePerson(service())
    await service().sql(`insert into memberships (workspace_id, user_id, role) values ($1, $2, 'owner')`, [
      world.workspace.uuid,
      rogue.uuid,
    ])
    const path = `/api/workspaces/${world.workspace.id}/members`
    const send = async () =>
      tokenOf(await rogue.call('POST', `${path}/invite`, { body: { email: freshEmail(), role: 'owner' } }))
    const first = await send()
    await world.owner.call('PATCH', `${path}/${rogue.id}`, { body: { role: 'member' } })
    expect((await accept(first, newcomer)).status).toBe(404)
    await world.owner.call('PATCH', `${path}/${rogue.id}`, { body: { role: 'owner' } })
    const second = await send()
    await world.owner.call('DELETE', `${path}/${rogue.id}`)
    expect((await accept(second, newcomer)).status).toBe(404)
  })

  test('of a member is refused, and of a guest gives the role at once', async () => {
    expect((await invite({ email: world.member.email })).body.code).toBe('already_exists')
    const guest = await makePerson(service())
    await service().sql(`insert into memberships (workspace_id, user_id, role) values ($1, $2, 'guest')`, [
      world.workspace.uuid,
      guest.uuid,
    ])
    const answer = await invite({ email: guest.email, role: 'viewer' })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      invitation_id: expect.any(String),
      email: guest.email,
      role: 'viewer',
      state: 'added',
    })
    expect((await guest.call('GET', '/auth/me')).body.workspaces[0].role).toBe('viewer')
  })

  test('does not accept the address of an operator', async () => {
    const token = tokenOf(await invite({ email: 'op@example.com' }))
    expect((await accept(token, newcomer)).body.code).toBe('address_reserved')
  })

  test('with invalid input is refused with the paths of the fields', async () => {
    for (const body of [
      {},
      { email: 'no' },
      { email: null },
      { email: freshEmail(), role: 'guest' },
      { email: freshEmail(), role: 'admin' },
      { email: freshEmail(), workspace_id: 'x' },
    ])
      expect((await invite(body)).status).toBe(422)
    const token = tokenOf(await invite({ email: freshEmail() }))
    expect((await accept(token, { name: 'Nel' })).body.errors[0].path).toBe('/password')
    expect((await accept(token, { password: PASSWORD })).body.errors[0].path).toBe('/name')
    expect((await accept(token, { ...newcomer, email: 'other@example.com' })).status).toBe(422)
    expect((await accept(token, { ...newcomer, role: 'owner' })).status).toBe(422)
    expect((await accept(token, newcomer)).status).toBe(201)
  })

  test('to a job is deleted with the job, and then does not reveal who has an account', async () => {
    const person = await makePerson(service())
    const job = `/api/enrichment-jobs/${await makeJob(world.owner, { definition: echoWorkflow })}`
    const tokens: string[] = []
    for (const email of [person.email, freshEmail()])
      tokens.push(tokenOf(await world.owner.call('POST', `${job}/members/invite`, { body: { email, role: 'viewer' } })))
    const waiting = async () =>
      (await world.owner.call('GET', `/api/workspaces/${world.workspace.id}/invitations?limit=200`)).body.items.filter(
        ({ resource_kind }: { resource_kind: string | null }) => resource_kind === 'job',
      )
    expect(await waiting()).toHaveLength(2)
    expect((await world.owner.call('DELETE', job)).status).toBe(204)
    expect(await waiting()).toEqual([])
    for (const token of tokens) {
      expect((await service().call('GET', `/auth/invitations/${token}`)).status).toBe(404)
      expect((await accept(token, newcomer)).status).toBe(404)
    }
  })

  test('can be sent only by owners', async () => {
    const path = `/api/workspaces/${world.workspace.id}/members/invite`
    for (const [person, status] of [
      [world.member, 403],
      [world.viewer, 403],
      [world.guest, 403],
      [world.stranger, 404],
    ] as const)
      expect((await person.call('POST', path, { body: { email: freshEmail() } })).status).toBe(status)
    expect((await signUp(service().base)).answer.body.code).toBe('sign_up_closed')
  })
})
