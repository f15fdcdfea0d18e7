// What `npm test` runs of these journeys. They share a service with its console, and a browser.
import './editor.test.ts'
import './first-workflow.test.ts'
import './pages.test.ts'
import './widget.test.ts'
