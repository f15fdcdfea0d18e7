// A page that shows both widgets. Ids and tokens are typed in, or come from the URL fragment, which is never sent to a
// server.

export const demoPage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Heddle widgets</title></head>
<body>
<main>
<h1>Heddle widgets</h1>
<p>Make an embed token for a template or a workflow in the console, and fill it in. An empty list of origins lets in this page.</p>
<form id="set-up">
<p><label>Kind <select name="kind"><option value="template">Chat by template</option><option value="workflow">One workflow, guided</option></select></label></p>
<p><label>Id <input name="id" required autocomplete="off" placeholder="tmpl_… or wf_…"></label></p>
<p><label>Token <input name="token" required autocomplete="off" placeholder="ems_…"></label></p>
<p><button>Show</button></p>
</form>
<div id="place"></div>
</main>
<script src="/widget/v1.js"></script>
<script src="/widget/demo.js"></script>
</body>
</html>
`

export const demoScript = `const sheet = new CSSStyleSheet()
sheet.replaceSync(':root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{margin:0 auto;max-width:46rem;padding:1.5rem}#set-up{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:1rem;align-items:end}#set-up p{margin:0}#set-up label{display:block}#set-up :is(input,select,button){display:block;box-sizing:border-box;width:100%;padding:.5rem;font:inherit}#place{margin-top:1.5rem}#place>*{display:block;height:36rem}')
document.adoptedStyleSheets = [sheet]
const form = document.getElementById('set-up')
const show = ({ kind, id, token }) => {
  const element = document.createElement(kind === 'workflow' ? 'heddle-workflow' : 'heddle-chat')
  element.setAttribute(kind === 'workflow' ? 'workflow' : 'template', id)
  element.setAttribute('token', token)
  element.setAttribute('base', location.origin)
  document.getElementById('place').replaceChildren(element)
}
form.addEventListener('submit', (event) => {
  event.preventDefault()
  show(Object.fromEntries(new FormData(form)))
})
const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
if (given.id && given.token) {
  for (const [name, value] of Object.entries(given)) if (form.elements[name]) form.elements[name].value = value
  show(given)
}
`
