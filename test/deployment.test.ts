import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { settings } from '#platform/config'
import { unknownSettings } from '#platform/setting-hints'

// The files for deployments name settings, paths and metrics of the program. This test checks that they exist.

const root = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const files = [
  'Dockerfile',
  'compose.yaml',
  ...globSync('deploy/**/*', { cwd: root }).filter((file) => /\.\w+$/.test(file)),
]

/** Settings of the files themselves or of other programs. */
const NOT_OURS = new Set(['HEDDLE_HOST', 'HEDDLE_UPSTREAMS'])

test.each(files)('%s contains only settings that exist', (file) => {
  const named = read(file).match(/\b(?:HEDDLE|S3|SMTP|LLM|DATABASE|STRIPE)_[A-Z_]*[A-Z]\b/g) ?? []
  expect([...new Set(named)].filter((name) => !(name in settings) && !NOT_OURS.has(name))).toEqual([])
})

test('workers scale on a metric that the program has', () => {
  const [metric] = /heddle_engine_\w+/.exec(read('deploy/helm/heddle/templates/autoscaling.yaml'))!
  expect(globSync('server/**/*.ts', { cwd: root }).some((file) => read(file).includes(metric))).toBe(true)
})

test('processes have more time to stop than to drain', () => {
  const graces = [
    /stop_grace_period: (\d+)s/.exec(read('compose.yaml')),
    /TimeoutStopSec=(\d+)/.exec(read('deploy/systemd/heddle.service')),
  ]
  const drain = Number(settings.HEDDLE_DRAIN_S.shown)
  for (const grace of graces) expect(Number(grace![1])).toBeGreaterThanOrEqual(drain + 10)
})

test('files that other files refer to exist', () => {
  for (const file of ['deploy/compose.env.example', 'deploy/proxy/Caddyfile']) {
    expect(read('compose.yaml')).toContain(file)
    expect(existsSync(join(root, file))).toBe(true)
  }
  expect(read('Dockerfile')).toContain('bin/heddle.mjs')
  expect(existsSync(join(root, 'scripts', 'package', 'heddle.mjs'))).toBe(true)
})

test('the systemd unit lets the program list its addresses', () => {
  const [, families] = /^RestrictAddressFamilies=(.*)$/m.exec(read('deploy/systemd/heddle.service'))!
  expect(families!.split(' ')).toContain('AF_NETLINK')
})

test('copies of the systemd unit share the user who owns their directory', () => {
  const unit = read('deploy/systemd/heddle.service')
  expect(unit).toMatch(/^StateDirectory=heddle$/m)
  expect(unit).toMatch(/^User=heddle$/m)
})

const template = (name: string): string => read(join('deploy/helm/heddle/templates', name))

test('the network policy lets Prometheus reach the pods that the chart tells it to scrape', () => {
  expect(template('monitor.yaml')).toContain('{{- if .Values.serviceMonitor.enabled }}')
  const [ingress] = template('network.yaml').split('  egress:')
  expect(ingress).toMatch(
    /if \.Values\.serviceMonitor\.enabled }}\s+- namespaceSelector:[^-]+{{- toYaml \.Values\.networkPolicy\.monitoringNamespace/,
  )
})

test('pods get no variables of services, which look like mistyped settings', () => {
  const variables = { HEDDLE_PORT: 'tcp://10.0.0.1:80', HEDDLE_SERVICE_HOST: '10.0.0.1' }
  expect(unknownSettings(variables)).toHaveLength(2)
  expect(template('_helpers.tpl')).toContain('enableServiceLinks: false')
})
