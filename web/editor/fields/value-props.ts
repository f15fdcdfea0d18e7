import type { ComponentType, ReactNode } from 'react'
import type { Json, JsonObject } from '#model/definition'

export type ValueProps = {
  schema: JsonObject
  value: Json | undefined
  /** The path of the value in its node: `/args/url`. */
  pointer: string
  label: string
  required?: boolean
  /** Undefined removes the field. */
  onChange(value: Json | undefined): void
  /** Set if the field has its own button to remove it. */
  onRemove?: () => void
  /** Shown instead of the label, such as the editable name of a field. */
  heading?: ReactNode
  /** The value is inside a policy: its author writes it as a literal, so other forms are not offered. */
  plain?: boolean
}

/** Values inside values: fields that contain several values receive the control for one value as a prop. */
export type WithValueField = { ValueField: ComponentType<ValueProps> }
