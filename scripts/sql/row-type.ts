import type { Node } from 'oxc-parser'
import type { Module, Modules } from './modules.ts'

/** A column that the code reads, and its TypeScript type if that is one of the simple types. */
export type Field = { optional: boolean; type: 'string' | 'number' | 'boolean' | 'Date' | 'other' }
export type Fields = Map<string, Field>

/** Returns the fields of a row's type. Undefined if they are not declared in types of the project. */
export function fieldsOf(modules: Modules, module: Module, type: Node): Fields | undefined {
  switch (type.type) {
    case 'TSParenthesizedType':
      return fieldsOf(modules, module, type.typeAnnotation)
    case 'TSTypeLiteral': {
      const fields: Fields = new Map()
      for (const member of type.members) {
        if (member.type !== 'TSPropertySignature' || member.key.type !== 'Identifier') return undefined
        const annotation = member.typeAnnotation?.typeAnnotation
        fields.set(member.key.name, {
          optional: member.optional,
          type: annotation ? simpleType(modules, module, annotation) : 'other',
        })
      }
      return fields
    }
    case 'TSIntersectionType': {
      const parts = type.types.map((part) => fieldsOf(modules, module, part))
      if (parts.includes(undefined)) return undefined
      return new Map(parts.flatMap((part) => [...part!]))
    }
    case 'TSTypeReference':
      return ofReference(modules, module, type)
    default:
      return undefined
  }
}

function ofReference(
  modules: Modules,
  module: Module,
  type: Extract<Node, { type: 'TSTypeReference' }>,
): Fields | undefined {
  if (type.typeName.type === 'TSQualifiedName' && type.typeName.left.type === 'Identifier' && !type.typeArguments) {
    const space = modules.find(module, type, type.typeName.left.name)
    const found = space?.kind === 'namespace' && modules.exported(space.module, type.typeName.right.name, 'type')
    return found && found.kind === 'type' ? fieldsOf(modules, found.module, found.node) : undefined
  }
  if (type.typeName.type !== 'Identifier') return ofSchema(modules, module, type)
  const { name } = type.typeName
  const [of, keys] = type.typeArguments?.params ?? []
  if (name === 'Pick' || name === 'Omit' || name === 'Partial') {
    const fields = of && fieldsOf(modules, module, of)
    if (!fields) return undefined
    if (name === 'Partial') return new Map([...fields].map(([key, field]) => [key, { ...field, optional: true }]))
    const names = keys && literals(keys)
    return names && new Map([...fields].filter(([key]) => names.includes(key) === (name === 'Pick')))
  }
  if (type.typeArguments) return undefined
  const binding = modules.find(module, type, name, 'type')
  return binding?.kind === 'type' ? fieldsOf(modules, binding.module, binding.node) : undefined
}

function literals(type: Node): string[] | undefined {
  if (type.type === 'TSLiteralType' && type.literal.type === 'Literal') return [String(type.literal.value)]
  if (type.type !== 'TSUnionType') return undefined
  const all = type.types.map(literals)
  return all.includes(undefined) ? undefined : all.flatMap((each) => each!)
}

function simpleType(modules: Modules, module: Module, type: Node): Field['type'] {
  switch (type.type) {
    case 'TSStringKeyword':
      return 'string'
    case 'TSNumberKeyword':
      return 'number'
    case 'TSBooleanKeyword':
      return 'boolean'
    case 'TSLiteralType': {
      const kind = type.literal.type === 'Literal' ? typeof type.literal.value : 'other'
      return kind === 'string' || kind === 'number' || kind === 'boolean' ? kind : 'other'
    }
    case 'TSUnionType': {
      const types = new Set(
        type.types.filter((part) => part.type !== 'TSNullKeyword').map((part) => simpleType(modules, module, part)),
      )
      return types.size === 1 ? [...types][0]! : 'other'
    }
    case 'TSTypeReference': {
      if (type.typeName.type !== 'Identifier') return 'other'
      if (type.typeName.name === 'Date') return 'Date'
      const binding = modules.find(module, type, type.typeName.name, 'type')
      return binding?.kind === 'type' ? simpleType(modules, binding.module, binding.node) : 'other'
    }
    default:
      return 'other'
  }
}

/** For `z.input<typeof Team>`: returns the names in the schema's object literal. */
function ofSchema(
  modules: Modules,
  module: Module,
  type: Extract<Node, { type: 'TSTypeReference' }>,
): Fields | undefined {
  const [query] = type.typeArguments?.params ?? []
  if (query?.type !== 'TSTypeQuery' || query.exprName.type !== 'Identifier') return undefined
  const binding = modules.find(module, type, query.exprName.name)
  return binding?.kind === 'value' ? schemaFields(modules, binding.module, binding.node) : undefined
}

const SAME_FIELDS = new Set(['meta', 'describe', 'refine', 'superRefine', 'check', 'strict', 'loose'])

function schemaFields(modules: Modules, module: Module, node: Node): Fields | undefined {
  if (node.type === 'Identifier') {
    const binding = modules.find(module, node, node.name)
    return binding?.kind === 'value' ? schemaFields(modules, binding.module, binding.node) : undefined
  }
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return undefined
  const { object, property } = node.callee
  const [shape] = node.arguments
  if (property.type !== 'Identifier') return undefined
  if (SAME_FIELDS.has(property.name)) return schemaFields(modules, module, object)
  const own = shape?.type === 'ObjectExpression' ? shapeFields(module, shape) : undefined
  if (/^(?:object|strictObject|looseObject)$/.test(property.name)) return own
  if (property.name !== 'extend' || !own) return undefined
  const base = schemaFields(modules, module, object)
  return base && new Map([...base, ...own])
}

function shapeFields(module: Module, shape: Extract<Node, { type: 'ObjectExpression' }>): Fields | undefined {
  const fields: Fields = new Map()
  for (const property of shape.properties) {
    if (property.type !== 'Property' || property.key.type !== 'Identifier') return undefined
    const text = module.source.slice(property.value.start, property.value.end)
    fields.set(property.key.name, { optional: /\.(?:optional|default|nullish)\(/.test(text), type: 'other' })
  }
  return fields
}
