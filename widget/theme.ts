// A theme is a set of values for our own properties, never style rules: the browser checks each value before it is
// used.

const colours = ['primary', 'on_primary', 'background', 'surface', 'text', 'muted'] as const

export function applyTheme(host: HTMLElement, theme: Record<string, unknown>): void {
  for (const name of colours) {
    const value = theme[name]
    if (typeof value === 'string' && CSS.supports('color', value))
      host.style.setProperty(`--heddle-${name.replace('_', '-')}`, value)
  }
  const { radius, font, position } = theme
  if (typeof radius === 'number' && radius >= 0 && radius <= 40)
    host.style.setProperty('--heddle-radius', `${radius}px`)
  if (typeof font === 'string' && /^[\w ,'"-]{1,200}$/.test(font)) host.style.setProperty('--heddle-font', font)
  if (position === 'left') host.dataset.position = 'left'
}

export const css = `
:host{--p:var(--heddle-primary,#0f5f5c);--op:var(--heddle-on-primary,#fff);--bg:var(--heddle-background,#fff);--sf:var(--heddle-surface,#f1f4f4);--tx:var(--heddle-text,#14201f);--mu:var(--heddle-muted,#4c5a59);--hd:var(--p);--oh:var(--op);--r:var(--heddle-radius,14px);
font:15px/1.5 var(--heddle-font,system-ui,sans-serif);color:var(--tx)}
@media(prefers-color-scheme:dark){:host{--p:var(--heddle-primary,#5fd0c5);--op:var(--heddle-on-primary,#06201e);--bg:var(--heddle-background,#141c1c);--sf:var(--heddle-surface,#1f2a2a);--tx:var(--heddle-text,#e8efee);--mu:var(--heddle-muted,#a7b6b4);--hd:var(--heddle-primary,#1f2a2a);--oh:var(--heddle-on-primary,#e8efee);color-scheme:dark}}
:host([data-floating]){position:fixed;bottom:20px;right:20px;z-index:2147483000}
:host([data-floating][data-position=left]){right:auto;left:20px}
*{box-sizing:border-box;margin:0}
svg{display:block;margin:auto}
button,input,select,textarea{font:inherit;color:inherit}
a{color:inherit}
button{cursor:pointer;border:1px solid color-mix(in srgb,var(--tx) 25%,transparent);background:var(--bg);border-radius:calc(var(--r)*.6);padding:.45em .9em;min-height:40px}
button:disabled{opacity:.55;cursor:default}
button.primary{background:var(--p);color:var(--op);border-color:var(--p)}
:focus-visible{outline:3px solid var(--p);outline-offset:2px}
.launch{width:60px;height:60px;border-radius:50%;padding:0;background:var(--p);color:var(--op);border:0;box-shadow:0 6px 20px #0003;font-size:24px}
.panel{display:flex;flex-direction:column;width:100%;height:100%;min-height:420px;background:var(--bg);border:1px solid color-mix(in srgb,var(--tx) 18%,transparent);border-radius:var(--r);overflow:hidden}
:host([data-floating]) .panel{width:min(390px,calc(100vw - 40px));height:min(620px,calc(100vh - 120px));box-shadow:0 12px 40px #0004}
@media(max-width:480px){:host([data-floating]) .panel{position:fixed;inset:0;width:auto;height:auto;min-height:0;border:0;border-radius:0}}
header{display:flex;align-items:center;gap:8px;padding:8px 14px;background:var(--hd);color:var(--oh)}
header h2{font-size:1em;flex:1;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
header button{background:transparent;color:inherit;border-color:transparent;padding:.3em .6em;min-width:40px}
header :focus-visible{outline-color:var(--oh)}
.log{flex:1;overflow-y:auto;padding:14px;display:flex;flex-direction:column;gap:10px}
.message{max-width:min(85%,60ch);padding:9px 13px;border-radius:var(--r);white-space:pre-wrap;overflow-wrap:anywhere;background:var(--sf);align-self:flex-start}
.message.visitor{align-self:flex-end;background:var(--p);color:var(--op)}
.sources{margin:.5em 0 0;padding:0;list-style:none;font-size:.85em;color:var(--mu)}
.author{display:block;font-size:.85em;font-weight:600;color:var(--mu)}
.message.system{align-self:center;background:none;color:var(--mu);font-size:.9em;text-align:center}
.note{color:var(--mu);font-size:.9em;padding:0 14px 8px}
.note.bad{color:#b3261e}
@media(prefers-color-scheme:dark){.note.bad,.hint.bad{color:#ffb4ab}}
.suggestions{display:flex;flex-wrap:wrap;gap:8px;padding:0 14px 10px}
.compose{display:flex;gap:8px;padding:10px 14px;border-top:1px solid color-mix(in srgb,var(--tx) 15%,transparent);align-items:flex-end}
.compose textarea{flex:1;resize:none;max-height:120px;min-height:40px;field-sizing:content}
textarea,input:not([type=checkbox]),select{width:100%;background:var(--bg);border:1px solid color-mix(in srgb,var(--tx) 45%,transparent);border-radius:calc(var(--r)*.6);padding:.5em .7em}
[aria-invalid=true]{border-color:#b3261e!important}
.form{display:flex;flex-direction:column;gap:12px;background:var(--sf);border-radius:var(--r);padding:14px;margin:0 14px 10px;max-height:55%;overflow:auto}
.form-title{font-weight:600}
.field label{display:block;font-weight:500;margin-bottom:3px}
.check{display:flex!important;gap:8px;align-items:center}.check input{width:18px;height:18px;accent-color:var(--p)}
.hint{font-size:.86em;color:var(--mu);margin-top:3px}.hint.bad{color:#b3261e}
.actions{display:flex;gap:8px}
.recording{background:#b3261e;color:#fff;border-color:#b3261e}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.dots::after{content:"…";animation:dots 1.2s steps(4) infinite}
@keyframes dots{from{opacity:.2}to{opacity:1}}
@media(prefers-reduced-motion:reduce){.dots::after{animation:none}}
`
