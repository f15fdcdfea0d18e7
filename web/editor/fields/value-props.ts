import type { ComponentType, ReactNode } from 'react'
import type { Json, JsonObject } from '#model/definition'

export type ValueProps = {
  schema: JsonObject
  value: Json | undefined
  /** Where it stands in its node: `/args/url`. */
  pointer: string
  label: string
  required?: boolean
  /** Nothing takes the field out. */
  onChange(value: Json | undefined): void
  /** Whether it can be taken out with a button of its own. */
  onRemove?: () => void
  /** Instead of a label, such as the name of a field that can be changed. */
  heading?: ReactNode
  /** Inside a policy: written out by its author, so other forms are not offered. */
  plain?: boolean
}

/** Values inside values: the control for one is given to those that hold several. */
export type WithValueField = { ValueField: ComponentType<ValueProps> }
