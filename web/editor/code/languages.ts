import { javascript } from '@codemirror/lang-javascript'
import { json } from '@codemirror/lang-json'
import { StreamLanguage, type StringStream } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import type { Language } from './code-props.ts'

// CEL and JSONata have no full grammar here: keywords, texts and numbers are enough for colours.

type Words = { keywords: RegExp; names: RegExp; comment: RegExp | null }

function simple({ keywords, names, comment }: Words): StreamLanguage<unknown> {
  const token = (stream: StringStream): string | null => {
    if (stream.eatSpace()) return null
    if (comment && stream.match(comment)) return 'comment'
    if (stream.match(/^(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)/)) return 'string'
    if (stream.match(/^\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?u?/)) return 'number'
    if (stream.match(keywords)) return 'keyword'
    if (stream.match(names)) return 'variableName.special'
    if (stream.match(/^[A-Za-z_$][\w$]*(?=\s*\()/)) return 'function(variableName)'
    if (stream.match(/^[A-Za-z_$][\w$]*/)) return 'propertyName'
    if (stream.match(/^(?:&&|\|\||[!=<>]=|[-+*/%<>!?:=~|&])/)) return 'operator'
    stream.next()
    return null
  }
  return StreamLanguage.define({ token })
}

const cel = simple({
  keywords: /^(?:true|false|null|in)\b/,
  names: /^(?:input|nodes|item|index|state|turn|execution|vars|callbacks|response|page)\b/,
  comment: /^\/\/.*/,
})

const jsonata = simple({
  keywords: /^(?:true|false|null|and|or|in|function)\b/,
  names: /^\$\$?(?!\w)|^\$[A-Za-z_]\w*(?!\s*\()/,
  comment: /^\/\*[\s\S]*?\*\//,
})

export function languageOf(language: Language): Extension {
  switch (language) {
    case 'cel':
      return cel
    case 'jsonata':
      return jsonata
    case 'json':
      return json()
    case 'typescript':
      return javascript({ typescript: true })
    case 'plain':
      return []
  }
}
