// References and expressions, typed by their results. They become `{"$ref": …}` and `{"$cel": …}` in the definition.

/** JSON of an undeclared type. Its fields can be read without a check. */
// biome-ignore lint/suspicious/noExplicitAny: the output of a vendor has no type, and `unknown` could not be read further
export type Untyped = any

declare const yields: unique symbol

type IsAny<T> = 0 extends 1 & T ? true : false

/**
 * A reference to a value of type T. Its fields are also references: `ref(fetch).body.items[0]`. A reference to an
 * unknown type is `any`.
 */
export type Ref<T> =
  IsAny<T> extends true
    ? Untyped
    : { readonly [yields]?: T; toJSON(): { $ref: string } } & (NonNullable<T> extends readonly (infer Item)[]
        ? { readonly [index: number]: Ref<Item> }
        : NonNullable<T> extends object
          ? { readonly [Field in keyof NonNullable<T>]-?: Ref<NonNullable<T>[Field]> }
          : unknown)

/** An expression that yields a T. */
export type Cel<T> = { readonly [yields]?: T; $cel: string }

/** A T, or a reference or expression that yields T or a part of it. */
export type Value<T> =
  | Ref<T>
  | Cel<T>
  | (IsAny<T> extends true
      ? Untyped
      : T extends readonly (infer Item)[]
        ? Value<Item>[]
        : T extends object
          ? { [Field in keyof T]: Value<T[Field]> }
          : T)

/** The type of a value after it is resolved. */
export type Resolved<V> =
  IsAny<V> extends true
    ? Untyped
    : V extends { readonly [yields]?: infer T; toJSON(): { $ref: string } }
      ? T
      : V extends { readonly [yields]?: infer T; $cel: string }
        ? T
        : V extends readonly (infer Item)[]
          ? Resolved<Item>[]
          : V extends object
            ? { [Field in keyof V]: Resolved<V[Field]> }
            : V

const PATH = Symbol('path')
const SAFE = /^[A-Za-z_$][\w$]*$/

const step = (key: string): string =>
  /^\d+$/.test(key) ? `[${key}]` : SAFE.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`

/** Returns the reference with this path. Property names that JSON.stringify and promises look up are not fields. */
export function makeRef<T>(path: string): Ref<T> {
  return new Proxy(Object.create(null), {
    get(_, key) {
      if (key === PATH) return path
      if (key === 'toJSON') return () => ({ $ref: path })
      if (typeof key === 'symbol' || key === 'then') return undefined
      return makeRef(path + step(key))
    },
  }) as Ref<T>
}

export const pathOf = (value: unknown): string | undefined =>
  value !== null && typeof value === 'object' ? (value as { [PATH]?: string })[PATH] : undefined

/**
 * Creates an expression. References in it become their paths, other values their JSON: `` cel<boolean>`${ref(a).count}
 * > ${3}` ``.
 */
export const cel = <T = Untyped>(texts: TemplateStringsArray, ...values: unknown[]): Cel<T> => ({
  $cel: texts.raw.reduce((text, next, at) => {
    const value = values[at - 1]
    return text + (pathOf(value) ?? JSON.stringify(value)) + next
  }),
})

/** Converts a value to plain JSON: references become `{"$ref": …}`. */
export const plain = <T>(value: T): unknown => JSON.parse(JSON.stringify(value))
