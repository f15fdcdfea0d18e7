/**
 * A small HTML parser with CSS selectors, for code in the sandbox: tags, classes, ids, attributes, `>`, `+`, `~`,
 * `:nth-child`, `:not`.
 */
export const HTML_READER = `const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '))
const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\\u00a0' }
const decode = (text) => text.replace(/&(#x[0-9a-f]+|#\\d+|\\w+);/gi, (all, name) => {
  if (name[0] !== '#') return ENTITIES[name] ?? all
  const code = name[1] === 'x' || name[1] === 'X' ? parseInt(name.slice(2), 16) : Number(name.slice(1))
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all
})
const attributesOf = (text) => {
  const found = {}
  for (const [, name, , a, b, c] of text.matchAll(/([^\\s=\\/"'>]+)(\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+)))?/g)) found[name.toLowerCase()] = decode(a ?? b ?? c ?? '')
  return found
}
const parseHtml = (text) => {
  const root = { tag: '', attributes: {}, children: [], parent: null }
  let at = root
  const pattern = /<!--[\\s\\S]*?-->|<!\\[CDATA\\[[\\s\\S]*?\\]\\]>|<![^>]*>|<\\/([\\w:-]+)[^>]*>|<([\\w:-]+)((?:"[^"]*"|'[^']*'|[^>"'])*)>/g
  let last = 0
  const addText = (part) => { if (part !== '') at.children.push({ text: decode(part) }) }
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    addText(text.slice(last, match.index))
    last = pattern.lastIndex
    if (match[1]) {
      const tag = match[1].toLowerCase()
      let open = at
      while (open.parent && open.tag !== tag) open = open.parent
      if (open.parent) at = open.parent
    } else if (match[2]) {
      const tag = match[2].toLowerCase()
      while (at.parent && ((tag === 'li' && at.tag === 'li') || (tag === 'p' && at.tag === 'p') || (['td', 'th'].includes(tag) && ['td', 'th'].includes(at.tag)) || (tag === 'tr' && ['td', 'th', 'tr'].includes(at.tag)) || (tag === 'option' && at.tag === 'option'))) at = at.parent
      const element = { tag, attributes: attributesOf(match[3].replace(/\\/$/, '')), children: [], parent: at, raw: match[3] }
      at.children.push(element)
      if (tag === 'script' || tag === 'style') {
        const end = text.toLowerCase().indexOf('</' + tag, last)
        const stop = end < 0 ? text.length : end
        element.children.push({ text: text.slice(last, stop) })
        pattern.lastIndex = last = text.indexOf('>', stop) < 0 ? text.length : text.indexOf('>', stop) + 1
      } else if (!VOID.has(tag) && !match[3].endsWith('/')) at = element
    }
  }
  addText(text.slice(last))
  return root
}
const elementsOf = (element) => element.children.filter((child) => child.tag !== undefined)
const textOf = (element, skip) => element.children.map((child) => (child.tag === undefined ? child.text : skip.has(child) || child.tag === 'script' || child.tag === 'style' ? '' : textOf(child, skip))).join('')
const innerHtml = (element) => element.children.map((child) => (child.tag === undefined ? child.text : '<' + child.tag + child.raw + '>' + (VOID.has(child.tag) ? '' : innerHtml(child) + '</' + child.tag + '>'))).join('')
const isNth = (formula, at) => {
  const [, a, b] = formula === 'odd' ? [0, 2, 1] : formula === 'even' ? [0, 2, 0] : /n/.test(formula) ? (() => { const [, x, y] = /^([+-]?\\d*)n(?:([+-]\\d+))?$/.exec(formula.replaceAll(' ', '')) ?? []; return [0, x === '' || x === '+' ? 1 : x === '-' ? -1 : Number(x), Number(y ?? 0)] })() : [0, 0, Number(formula)]
  return a === 0 ? at === b : (at - b) / a >= 0 && (at - b) % a === 0
}
const fitsOne = (element, simple) => {
  const parts = simple.match(/^[\\w*|-]+|#[\\w-]+|\\.(?:[\\w-]|\\\\.)+|\\[[^\\]]*\\]|::?[\\w-]+(?:\\((?:[^()]|\\([^()]*\\))*\\))?/g) ?? []
  return parts.every((part) => {
    if (part[0] === '#') return element.attributes.id === part.slice(1)
    if (part[0] === '.') return (element.attributes.class ?? '').split(/\\s+/).includes(part.slice(1).replaceAll('\\\\', ''))
    if (part[0] === '[') {
      const [, name, sign, , a, b, c] = /^\\[\\s*([^\\s~|^$*=\\]]+)\\s*(?:([~|^$*]?=)\\s*("([^"]*)"|'([^']*)'|([^\\]]*?)))?\\s*(?:i\\s*)?\\]$/.exec(part) ?? []
      const value = element.attributes[String(name).toLowerCase()]
      const wanted = a ?? b ?? c ?? ''
      if (value === undefined || sign === undefined) return value !== undefined
      return { '=': value === wanted, '~=': value.split(/\\s+/).includes(wanted), '|=': value === wanted || value.startsWith(wanted + '-'), '^=': value.startsWith(wanted), '$=': value.endsWith(wanted), '*=': value.includes(wanted) }[sign]
    }
    if (part[0] === ':') {
      const [, name, argument] = /^::?([\\w-]+)(?:\\((.*)\\))?$/.exec(part) ?? []
      const siblings = elementsOf(element.parent)
      const typed = siblings.filter((one) => one.tag === element.tag)
      if (name === 'first-child') return siblings[0] === element
      if (name === 'last-child') return siblings.at(-1) === element
      if (name === 'nth-child') return isNth(argument, siblings.indexOf(element) + 1)
      if (name === 'nth-last-child') return isNth(argument, siblings.length - siblings.indexOf(element))
      if (name === 'first-of-type') return typed[0] === element
      if (name === 'last-of-type') return typed.at(-1) === element
      if (name === 'nth-of-type') return isNth(argument, typed.indexOf(element) + 1)
      if (name === 'not') return !argument.split(',').some((one) => fitsOne(element, one.trim()))
      if (name === 'has') return select(element, argument).length > 0
      if (name === 'contains') return textOf(element, new Set()).includes(argument.replace(/^['"]|['"]$/g, ''))
      if (name === 'root') return element.parent?.tag === ''
      throw new Error('the selector ' + part + ' is not known')
    }
    return part === '*' || element.tag === part.toLowerCase()
  })
}
const fits = (element, steps) => {
  const [{ simple, sign }, ...rest] = steps
  if (!fitsOne(element, simple)) return false
  if (rest.length === 0) return true
  const siblings = elementsOf(element.parent)
  const at = siblings.indexOf(element)
  if (sign === '>') return element.parent.tag !== '' && fits(element.parent, rest)
  if (sign === '+') return at > 0 && fits(siblings[at - 1], rest)
  if (sign === '~') return siblings.slice(0, at).some((one) => fits(one, rest))
  for (let above = element.parent; above && above.tag !== ''; above = above.parent) if (fits(above, rest)) return true
  return false
}
const stepsOf = (selector) => {
  const tokens = selector.trim().match(/(?:\\[[^\\]]*\\]|\\((?:[^()]|\\([^()]*\\))*\\)|[^\\s>+~])+|[>+~]/g) ?? []
  const steps = []
  let sign = ' '
  for (const token of tokens) {
    if (/^[>+~]$/.test(token)) sign = token
    else {
      steps.unshift({ simple: token, sign })
      sign = ' '
    }
  }
  return steps
}
const select = (root, selector) => {
  const groups = (selector.match(/(?:\\[[^\\]]*\\]|\\((?:[^()]|\\([^()]*\\))*\\)|[^,])+/g) ?? []).map(stepsOf).filter((steps) => steps.length > 0)
  const found = []
  const visit = (element) => {
    for (const child of elementsOf(element)) {
      if (groups.some((steps) => fits(child, steps))) found.push(child)
      visit(child)
    }
  }
  visit(root)
  return found
}`
