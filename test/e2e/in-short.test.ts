// The journeys that `npm test` runs. They share one service with its console, and one browser.
import './editor.test.ts'
import './first-workflow.test.ts'
import './pages.test.ts'
import './widget.test.ts'
