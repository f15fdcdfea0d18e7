import { startRegistration } from '@simplewebauthn/browser'
import { useState } from 'react'
import type { BegunTotp, Passkey } from '#sdk/types.generated'
import { account, queryClient, useApi } from '#web/api.ts'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { Card, Section } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { toast } from '#web/ui/toast.tsx'
import { t } from '#web/words/language.ts'
import { QrCode } from './qr-code.tsx'

type Doing = 'totp' | 'remove_totp' | 'passkey' | 'codes' | { remove: Passkey }

const titleOf = (doing: Doing): string =>
  doing === 'totp'
    ? 'Set up an authenticator app'
    : doing === 'remove_totp'
      ? 'Remove the authenticator app?'
      : doing === 'passkey'
        ? 'Add a passkey'
        : doing === 'codes'
          ? 'Create new recovery codes?'
          : `Remove ${doing.remove.name}?`

const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['getSecondFactors'] })

/** Authenticator app, passkeys and recovery codes. */
export function SecondFactorSection() {
  const factors = useApi('getSecondFactors')
  const [doing, setDoing] = useState<Doing | null>(null)
  const [codes, setCodes] = useState<string[] | null>(null)
  return (
    <Section
      title="Second factor"
      description="Required after the password. A stolen password alone is then not enough."
    >
      <Loaded of={factors} what="your second factors">
        {({ totp, passkeys, recovery_codes_left }) => (
          <Card className="flex flex-col gap-4">
            <Row title="Authenticator app" state={totp ? <Badge tone="success">set up</Badge> : t('not set up')}>
              <Button size="small" onClick={() => setDoing(totp ? 'remove_totp' : 'totp')}>
                {totp ? 'Remove' : 'Set up'}
              </Button>
            </Row>
            {passkeys.map((passkey) => (
              <Row
                key={passkey.passkey_id}
                title={`Passkey: ${passkey.name}`}
                state={
                  passkey.last_used_at ? (
                    <>
                      last used <RelativeTime at={passkey.last_used_at} />
                    </>
                  ) : (
                    t('not used yet')
                  )
                }
              >
                <Button size="small" onClick={() => setDoing({ remove: passkey })}>
                  Remove
                </Button>
              </Row>
            ))}
            <Row title="Passkeys" state="A fingerprint, a face, a PIN or a security key">
              <Button size="small" onClick={() => setDoing('passkey')}>
                Add a passkey
              </Button>
            </Row>
            {(totp || passkeys.length > 0) && (
              <Row title="Recovery codes" state={`${recovery_codes_left} left`}>
                <Button size="small" onClick={() => setDoing('codes')}>
                  Create new codes
                </Button>
              </Row>
            )}
          </Card>
        )}
      </Loaded>
      {doing !== null && (
        <Dialog open onClose={() => setDoing(null)} title={titleOf(doing)}>
          <Change
            doing={doing}
            onDone={(shown) => {
              setDoing(null)
              setCodes(shown)
              void refresh()
            }}
          />
        </Dialog>
      )}
      {codes !== null && (
        <Dialog
          open
          onClose={() => setCodes(null)}
          title="Your recovery codes"
          description="Each works once, when your phone or passkey is lost."
        >
          <CopyField label="Recovery codes" text={codes.join(' ')} secret />
        </Dialog>
      )}
    </Section>
  )
}

const Row = (props: { title: string; state: React.ReactNode; children: React.ReactNode }) => (
  <div className="flex items-center justify-between gap-3">
    <div>
      <div className="font-medium">{props.title}</div>
      <div className="text-sm text-ink-2">{props.state}</div>
    </div>
    {props.children}
  </div>
)

/** Every change requires the password again. */
function Change({ doing, onDone }: { doing: Doing; onDone(codes: string[] | null): void }) {
  const [begun, setBegun] = useState<BegunTotp | null>(null)
  if (begun) return <ConfirmTotp begun={begun} onDone={onDone} />
  const run = async ({ current_password, name }: { current_password?: string; name?: string }): Promise<void> => {
    const again = current_password ? { current_password } : {}
    if (doing === 'totp') {
      setBegun(await account.beginTotp(again))
      return
    }
    onDone(await apply(doing, again, name))
  }
  return (
    <Form submit="Continue" onSubmit={run}>
      {doing === 'passkey' && (
        <Field name="name" label="Name" hint="A name that you recognise, such as the device.">
          <Input required maxLength={200} />
        </Field>
      )}
      <Field name="current_password" label="Your password" hint="Leave it empty if your account has none.">
        <Input type="password" autoFocus autoComplete="current-password" />
      </Field>
    </Form>
  )
}

/** Applies a change. Returns the new recovery codes to show, or null if there are none. */
async function apply(
  doing: Exclude<Doing, 'totp'>,
  again: { current_password?: string },
  name = 'Passkey',
): Promise<string[] | null> {
  if (doing === 'codes') return (await account.renewRecoveryCodes(again)).recovery_codes
  if (doing === 'passkey') {
    const { challenge, options } = await account.beginPasskey(again)
    const response = await startRegistration({ optionsJSON: options as never })
    const added = await account.addPasskey({ challenge, name, response: response as never })
    toast.done('Passkey added')
    return added.recovery_codes
  }
  if (doing === 'remove_totp') await account.removeTotp(again)
  else await account.removePasskey({ passkey_id: doing.remove.passkey_id, ...again })
  return null
}

function ConfirmTotp({ begun, onDone }: { begun: BegunTotp; onDone(codes: string[] | null): void }) {
  return (
    <div className="flex flex-col gap-4">
      <p>Scan this with your authenticator app, then enter the code that it shows.</p>
      <QrCode text={begun.otpauth_url} label="QR code for your authenticator app" />
      <CopyField label="Or type this into the app" text={begun.secret} />
      <Form<{ code: string }>
        submit="Confirm"
        onSubmit={async ({ code }) => {
          const { recovery_codes } = await account.confirmTotp({ code })
          toast.done('Authenticator app set up')
          onDone(recovery_codes)
        }}
      >
        <Field name="code" label="Code">
          <Input required autoFocus autoComplete="one-time-code" inputMode="numeric" maxLength={10} />
        </Field>
      </Form>
    </div>
  )
}
