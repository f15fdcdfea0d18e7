import type { Knowledge } from '#sdk/types.generated'
import { useAll, useApi } from '#web/api.ts'
import { useMe } from '#web/session.tsx'
import { Field, Form, Input, Select, Textarea, withPresent } from '#web/ui/field.tsx'

type Values = {
  name: string
  description: string | null
  language: Knowledge['language']
  embeddings?: { credential_id: string | null; model?: string } | null
}

type Typed = { name: string; description: string; language: string; credential_id?: string; model?: string }

const languages: Record<Knowledge['language'], string> = {
  english: 'English',
  german: 'German',
  french: 'French',
  spanish: 'Spanish',
  norwegian: 'Norwegian',
  simple: 'Several languages, or another one',
}

/** The value in place of a credential for the model that the operator pays for. */
const INSTALLATION = 'installation'

function embeddingsOf(credential_id?: string, model?: string): Values['embeddings'] {
  if (credential_id === INSTALLATION) return { credential_id: null }
  return credential_id && model ? { credential_id, model } : null
}

export function BaseForm({
  base,
  submit,
  mayChooseModel,
  onSubmit,
  onCancel,
}: {
  base?: Knowledge
  submit: string
  mayChooseModel: boolean
  onSubmit(values: Values): Promise<unknown>
  onCancel(): void
}) {
  const { workspace } = useMe()
  const present = base?.embeddings ? (base.embeddings.credential_id ?? INSTALLATION) : ''
  const offered = useApi('getWorkspaceModel', { workspace_id: workspace!.workspace_id })
  const models = useAll('listCredentials', { usable: 'true', kind: 'llm', limit: 200 })
  return (
    <Form<Typed>
      submit={submit}
      onCancel={onCancel}
      onSubmit={({ name, description, language, credential_id, model }) =>
        onSubmit({
          name,
          description: description || null,
          language: language as Knowledge['language'],
          ...(mayChooseModel && {
            embeddings: embeddingsOf(credential_id, model),
          }),
        })
      }
    >
      <Field name="name" label="Name">
        <Input required autoFocus maxLength={200} defaultValue={base?.name} placeholder="Handbook" />
      </Field>
      <Field name="description" label="Description">
        <Textarea rows={2} maxLength={2000} defaultValue={base?.description ?? ''} />
      </Field>
      <Field name="language" label="Language" hint="Words are found in all their forms.">
        <Select
          defaultValue={base?.language ?? 'english'}
          options={Object.entries(languages).map(([value, label]) => ({ value, label }))}
        />
      </Field>
      {mayChooseModel && (
        <>
          <Field
            name="credential_id"
            label="Embedding model"
            hint="Finds passages with the same meaning in other words. The credential needs an OpenAI-compatible address, or Google."
          >
            <Select
              defaultValue={present}
              options={withPresent(
                [
                  { value: '', label: 'None: search by words' },
                  ...(offered.data?.embedding_model
                    ? [{ value: INSTALLATION, label: `The installation’s model, ${offered.data.embedding_model}` }]
                    : []),
                  ...(models.data ?? []).map(({ credential_id, name }) => ({ value: credential_id, label: name })),
                ],
                present,
                present === INSTALLATION
                  ? 'A model that this installation no longer offers'
                  : 'A credential that you may not use',
              )}
            />
          </Field>
          <Field name="model" label="Name of the embedding model" hint="Needed with a credential.">
            <Input maxLength={200} defaultValue={base?.embeddings?.model ?? ''} placeholder="text-embedding-3-small" />
          </Field>
        </>
      )}
    </Form>
  )
}
