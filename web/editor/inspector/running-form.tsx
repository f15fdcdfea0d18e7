import { useId, useState } from 'react'
import type { Join, Node, OnError, RetryPolicy } from '#model/definition'
import { Field } from '#web/ui/field.tsx'
import { mayDisable } from '../actions.ts'
import { refuseId, renameNode } from '../document/commands.ts'
import { FieldProblem } from '../fields/field-problem.tsx'
import { NumberInput, SelectInput, TextInput } from '../fields/inputs.tsx'
import { useFieldScope } from '../fields/scope.tsx'
import { useEditor, useEditorStore } from '../store.ts'

/** Returns the policy with one field set, or without the field if there is no value. */
function withField<Key extends keyof RetryPolicy>(
  policy: RetryPolicy,
  key: Key,
  value: RetryPolicy[Key] | undefined,
): RetryPolicy {
  const { [key]: _old, ...rest } = policy
  return { ...rest, ...(value !== undefined && { [key]: value }) } as unknown as RetryPolicy
}

type Change = (edit: (node: Node) => Node, about?: string) => void

/** How a node runs: what happens if it fails, how long it may take, what it waits for. */
export function RunningForm({ node, change }: { node: Node; change: Change }) {
  const { readOnly, problemAt } = useFieldScope()
  const store = useEditorStore()
  const id = useId()
  const set = <Key extends keyof Node>(key: Key, value: Node[Key] | undefined): void =>
    change((before) => {
      const { [key]: _old, ...rest } = before
      return { ...rest, ...(value !== undefined && { [key]: value }) } as unknown as Node
    }, `/${key}`)
  const retry = node.retry
  return (
    <div className="flex flex-col gap-4">
      <Labelled
        id={`${id}-error`}
        label="On error"
        hint={errorHints[node.on_error ?? 'fail']}
        problem={problemAt('/on_error')}
      >
        <SelectInput
          id={`${id}-error`}
          disabled={readOnly}
          value={node.on_error ?? 'fail'}
          onChange={(event) =>
            set('on_error', event.currentTarget.value === 'fail' ? undefined : (event.currentTarget.value as OnError))
          }
        >
          <option value="fail">Fail the run</option>
          <option value="continue">Continue without output</option>
          <option value="route">Route to error output</option>
        </SelectInput>
      </Labelled>
      <Labelled
        id={`${id}-tries`}
        label="Max attempts"
        hint="How many times the node runs before it fails."
        problem={problemAt('/retry/max_attempts')}
      >
        <NumberInput
          id={`${id}-tries`}
          disabled={readOnly}
          placeholder="1"
          value={retry?.max_attempts}
          onNumber={(tries) =>
            set(
              'retry',
              tries === undefined || tries <= 1
                ? undefined
                : { ...retry, max_attempts: tries, backoff_s: retry?.backoff_s ?? 1 },
            )
          }
        />
      </Labelled>
      {retry && (
        <div className="grid grid-cols-2 gap-3">
          <Labelled id={`${id}-wait`} label="Wait between attempts (seconds)" problem={problemAt('/retry/backoff_s')}>
            <NumberInput
              id={`${id}-wait`}
              disabled={readOnly}
              value={retry.backoff_s}
              onNumber={(wait) => set('retry', { ...retry, backoff_s: wait ?? 0 })}
            />
          </Labelled>
          <Labelled id={`${id}-factor`} label="Backoff factor" problem={problemAt('/retry/factor')}>
            <NumberInput
              id={`${id}-factor`}
              disabled={readOnly}
              placeholder="2"
              value={retry.factor}
              onNumber={(factor) => set('retry', withField(retry, 'factor', factor))}
            />
          </Labelled>
          <Labelled
            id={`${id}-longest`}
            label="Max wait (seconds)"
            hint="The longest pause between attempts."
            problem={problemAt('/retry/max_backoff_s')}
          >
            <NumberInput
              id={`${id}-longest`}
              disabled={readOnly}
              placeholder="86400"
              value={retry.max_backoff_s}
              onNumber={(longest) => set('retry', withField(retry, 'max_backoff_s', longest))}
            />
          </Labelled>
          <Labelled
            id={`${id}-jitter`}
            label="Jitter"
            hint="0.25 makes each pause up to a quarter shorter or longer."
            problem={problemAt('/retry/jitter')}
          >
            <NumberInput
              id={`${id}-jitter`}
              disabled={readOnly}
              placeholder="0.25"
              value={retry.jitter}
              onNumber={(jitter) => set('retry', withField(retry, 'jitter', jitter))}
            />
          </Labelled>
          <div className="col-span-2">
            <Labelled
              id={`${id}-on`}
              label="Retry on error codes"
              hint="Separated by commas. Empty: every error that may pass."
              problem={problemAt('/retry/on')}
            >
              <RetryCodes
                id={`${id}-on`}
                codes={retry.on}
                onCodes={(codes) => set('retry', withField(retry, 'on', codes))}
              />
            </Labelled>
          </div>
        </div>
      )}
      <Labelled id={`${id}-time`} label="Timeout (seconds)" problem={problemAt('/timeout_s')}>
        <NumberInput
          id={`${id}-time`}
          disabled={readOnly}
          placeholder="No limit"
          value={node.timeout_s}
          onNumber={(seconds) => set('timeout_s', seconds)}
        />
      </Labelled>
      <Labelled
        id={`${id}-finally`}
        label="Runs"
        hint={node.finally ? 'Also after a failure, a cancellation or a timeout.' : undefined}
        problem={problemAt('/finally')}
      >
        <SelectInput
          id={`${id}-finally`}
          disabled={readOnly}
          value={node.finally ? 'last' : 'order'}
          onChange={(event) => set('finally', event.currentTarget.value === 'last' ? true : undefined)}
        >
          <option value="order">In the order of the graph</option>
          <option value="last">Always, at the end of the run</option>
        </SelectInput>
      </Labelled>
      {(node.disabled || mayDisable(store, node.id)) && (
        <Labelled
          id={`${id}-disabled`}
          label="This node"
          hint={node.disabled ? 'Does nothing: the output is the input.' : undefined}
          problem={problemAt('/disabled')}
        >
          <SelectInput
            id={`${id}-disabled`}
            disabled={readOnly}
            value={node.disabled ? 'off' : 'on'}
            onChange={(event) => set('disabled', event.currentTarget.value === 'off' ? true : undefined)}
          >
            <option value="on">Is enabled</option>
            <option value="off">Is disabled</option>
          </SelectInput>
        </Labelled>
      )}
      <Labelled id={`${id}-join`} label="When several branches join">
        <SelectInput
          id={`${id}-join`}
          disabled={readOnly}
          value={node.join ?? 'all'}
          onChange={(event) =>
            set('join', event.currentTarget.value === 'all' ? undefined : (event.currentTarget.value as Join))
          }
        >
          <option value="all">Wait for all branches</option>
          <option value="any">Start when the first branch arrives</option>
        </SelectInput>
      </Labelled>
      <IdRow node={node} />
    </div>
  )
}

const errorHints: Record<OnError, string> = {
  fail: 'No later node runs.',
  continue: 'The output is null, and the next nodes run.',
  route: 'The error becomes the output. Connect the error output to the node that handles it.',
}

type LabelledProps = { id: string; label: string; hint?: string; problem?: string; children: React.ReactNode }

const Labelled = ({ id, label, hint, problem, children }: LabelledProps) => (
  <div className="flex flex-col gap-1">
    <label htmlFor={id} className="font-medium">
      {label}
    </label>
    {children}
    {hint && <p className="text-xs text-ink-3">{hint}</p>}
    {problem && <FieldProblem>{problem}</FieldProblem>}
  </div>
)

/** The id by which other nodes refer to this node; their references are updated when it changes. */
function IdRow({ node }: { node: Node }) {
  const store = useEditorStore()
  const path = useEditor((state) => state.path)
  const { readOnly } = useFieldScope()
  const [text, setText] = useState<string | null>(null)
  const refused = text === null ? null : refuseId(store.doc(), node.id, text)
  const done = (): void => {
    if (text !== null && refused === null && text !== node.id) {
      store.change((doc) => renameNode(doc, path, node.id, text))
      store.select([text])
    }
    setText(null)
  }
  return (
    <Field
      label="Id"
      hint={refused ?? `Other nodes refer to nodes.${node.id}.output. References update when you change the id.`}
    >
      <TextInput
        aria-label="Node id"
        disabled={readOnly}
        aria-invalid={refused !== null}
        value={text ?? node.id}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={done}
        onKeyDown={(event) => event.key === 'Enter' && done()}
        className="font-mono text-xs!"
      />
    </Field>
  )
}

/** Keeps the text while the user types: a comma at the end is not yet a code. */
function RetryCodes(props: { id: string; codes: string[] | undefined; onCodes(codes: string[] | undefined): void }) {
  const { readOnly } = useFieldScope()
  const [text, setText] = useState<string | null>(null)
  const done = (): void => {
    if (text !== null) {
      const codes = text.split(/[\s,]+/).filter((code) => code !== '')
      props.onCodes(codes.length > 0 ? codes : undefined)
    }
    setText(null)
  }
  return (
    <TextInput
      id={props.id}
      disabled={readOnly}
      placeholder="http_status, timeout"
      value={text ?? props.codes?.join(', ') ?? ''}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={done}
      onKeyDown={(event) => event.key === 'Enter' && done()}
    />
  )
}
