import { ArrowDown, ArrowUp, X } from 'lucide-react'
import { useState } from 'react'
import type { Json, JsonObject } from '#model/definition'
import { at, isObject } from '#model/json'
import { IconButton } from '#web/ui/button.tsx'
import { unusedName } from '../document/document.ts'
import { AddButton } from './add-button.tsx'
import { ConditionEditor } from './condition-editor.tsx'
import { FieldProblem } from './field-problem.tsx'
import { focusBeside } from './focus.ts'
import { TextInput } from './inputs.tsx'
import { useFieldScope } from './scope.tsx'
import type { ValueProps } from './value-props.ts'

/** The cases of a branch, tested from the top; each case is a port of the node. */
export function CasesField({ value, pointer, onChange }: ValueProps) {
  const { readOnly, renameCase } = useFieldScope()
  const cases: Json[] = Array.isArray(value) ? value : []
  const add = (): void => {
    const taken = new Set([...cases.map((item) => (isObject(item) ? String(item.port) : '')), 'default', 'error'])
    onChange([...cases, { port: unusedName('case', taken), when: { $cel: 'true' } }])
  }
  const swap = (index: number, other: number): void =>
    onChange(cases.with(index, cases[other]!).with(other, cases[index]!))
  return (
    <div data-fields className="flex flex-col gap-3">
      {cases.map((item, index) => {
        const each: JsonObject = isObject(item) ? item : {}
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the place of a case is its meaning
          <div key={index} className="flex flex-col gap-2 rounded-md border border-line p-2.5">
            <div className="flex items-center gap-1">
              <span className="text-xs text-ink-3">{index === 0 ? 'If' : 'Else if'}, take output</span>
              <PortInput
                port={String(each.port ?? '')}
                disabled={readOnly}
                onRename={(port) => renameCase?.(index, port)}
              />
              {!readOnly && (
                <span className="ml-auto flex">
                  <IconButton
                    size="small"
                    icon={ArrowUp}
                    label="Move up"
                    disabled={index === 0}
                    onClick={() => swap(index, index - 1)}
                  />
                  <IconButton
                    size="small"
                    icon={ArrowDown}
                    label="Move down"
                    disabled={index === cases.length - 1}
                    onClick={() => swap(index, index + 1)}
                  />
                  <IconButton
                    size="small"
                    icon={X}
                    label="Remove case"
                    onClick={(event) => {
                      focusBeside(event.currentTarget)
                      onChange(cases.toSpliced(index, 1))
                    }}
                  />
                </span>
              )}
            </div>
            <Condition
              value={each.when}
              pointer={at(at(pointer, index), 'when')}
              onChange={(when) => onChange(cases.with(index, { ...each, when }))}
            />
            <Problem pointer={at(at(pointer, index), 'port')} />
          </div>
        )
      })}
      <p className="text-xs text-ink-3">
        Otherwise take output <code className="font-mono">default</code>.
      </p>
      {!readOnly && <AddButton onClick={add}>Add a case</AddButton>}
    </div>
  )
}

function Condition({
  value,
  pointer,
  onChange,
}: {
  value: Json | undefined
  pointer: string
  onChange(value: Json): void
}) {
  const { problemAt } = useFieldScope()
  return (
    <>
      <ConditionEditor
        label="Condition"
        problem={problemAt(pointer)}
        cel={isObject(value) ? String(value.$cel ?? '') : ''}
        onChange={(cel) => onChange({ $cel: cel })}
      />
      <Problem pointer={pointer} />
    </>
  )
}

function Problem({ pointer }: { pointer: string }) {
  const { problemAt } = useFieldScope()
  const problem = problemAt(pointer)
  return problem ? <FieldProblem>{problem}</FieldProblem> : null
}

function PortInput({ port, disabled, onRename }: { port: string; disabled: boolean; onRename(port: string): void }) {
  const [text, setText] = useState<string | null>(null)
  const done = (): void => {
    if (text !== null && text !== port && text.trim() !== '') onRename(text.trim())
    setText(null)
  }
  return (
    <TextInput
      aria-label="Output name"
      disabled={disabled}
      value={text ?? port}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={done}
      onKeyDown={(event) => event.key === 'Enter' && done()}
      className="h-7! w-28! font-mono text-xs!"
    />
  )
}
