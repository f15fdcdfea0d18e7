import { isLarge } from '#web/editor/document/value.ts'
import { StatusBadge } from '#web/ui/badge.tsx'
import { JsonView } from '#web/ui/json-view.tsx'
import { translateMessage } from '#web/words/messages.ts'
import { setInputs, setOutput } from '../document/commands.ts'
import { problemsOf } from '../document/problems.ts'
import { AddButton } from '../fields/add-button.tsx'
import { FieldProblem } from '../fields/field-problem.tsx'
import { focusField } from '../fields/focus.ts'
import { SchemaEditor } from '../fields/schema-editor.tsx'
import { FieldScopeProvider } from '../fields/scope.tsx'
import { ValueField } from '../fields/value-field.tsx'
import { useDoc, useEditor, useEditorStore, useGraph } from '../store.ts'
import { useProblems } from '../use-problems.ts'
import { useFormScope } from './use-field-scope.ts'

/** Shown if nothing is selected: the input and the output of the workflow. */
export function WorkflowForm() {
  const inside = useEditor((state) => state.path.length > 0)
  return (
    <div className="flex flex-col gap-6 p-4">
      {inside ? (
        <header>
          <h2 className="text-base font-semibold">Loop body</h2>
          <p className="mt-1 text-ink-2">
            Runs once for each item. <code className="font-mono">item</code> is the current item,{' '}
            <code className="font-mono">index</code> its position. Nodes before the loop can be referenced too.
          </p>
        </header>
      ) : (
        <InputSection />
      )}
      <OutputSection inside={inside} />
      {!inside && <ResultSection />}
    </div>
  )
}

function InputSection() {
  const store = useEditorStore()
  const doc = useDoc()
  const readOnly = useEditor((state) => state.readOnly)
  const problems = problemsOf(useProblems(), [], 'inputs')
  return (
    <section aria-labelledby="editor-input">
      <h2 id="editor-input" className="text-base font-semibold">
        Input
      </h2>
      <p className="mt-1 mb-3 text-ink-2">
        The input a run takes. Required fields must be there, and values must match their type.
      </p>
      <SchemaEditor
        label="Input"
        value={doc.inputs}
        readOnly={readOnly}
        onChange={(inputs) => store.change((before) => setInputs(before, inputs), 'inputs')}
      />
      {problems.map(({ message }) => (
        <FieldProblem key={message}>{message}</FieldProblem>
      ))}
    </section>
  )
}

function OutputSection({ inside }: { inside: boolean }) {
  const store = useEditorStore()
  const { output } = useGraph()
  const scope = useFormScope('output', undefined, { kind: 'output' })
  const set = (value: unknown): void =>
    store.change((doc) => setOutput(doc, store.get().path, value as never), 'output')
  const define = (): void => {
    set({})
    focusField('')
  }
  return (
    <FieldScopeProvider value={scope}>
      <section data-fields aria-label="Output" className="border-t border-line pt-5">
        {output === undefined ? (
          <>
            <h2 className="text-base font-semibold">Output</h2>
            <p className="mt-1 mb-2 text-ink-2">
              {inside ? 'The output of each iteration.' : 'The output of a run.'} Not defined yet.
            </p>
            {!scope.readOnly && <AddButton onClick={define}>Define output</AddButton>}
          </>
        ) : (
          <ValueField
            schema={{}}
            value={output}
            pointer=""
            label="Output"
            required
            heading={<h2 className="text-base font-semibold">Output</h2>}
            onChange={set}
            onRemove={() => set(undefined)}
          />
        )}
      </section>
    </FieldScopeProvider>
  )
}

function ResultSection() {
  const execution = useEditor((state) => state.execution)
  if (!execution) return null
  return (
    <section aria-labelledby="editor-last" className="border-t border-line pt-5">
      <div className="mb-2 flex items-center gap-2">
        <h2 id="editor-last" className="text-base font-semibold">
          Last run
        </h2>
        <StatusBadge status={execution.status} />
      </div>
      {execution.error && (
        <p className="mb-2 rounded-md bg-danger-soft px-3 py-2 text-danger">
          {translateMessage(execution.error.message)}
        </p>
      )}
      <p className="mb-1 text-xs text-ink-3">Input</p>
      <JsonView label="Run input" value={execution.input} />
      {execution.status === 'succeeded' && (
        <>
          <p className="mt-3 mb-1 text-xs text-ink-3">Output{isLarge(execution.results) ? ' (large)' : ''}</p>
          <JsonView label="Run output" value={execution.results} />
        </>
      )}
    </section>
  )
}
