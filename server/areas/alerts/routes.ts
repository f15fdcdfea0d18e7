import { member, owner, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { AlertRule, AlertRulePatch, alertRuleList, NewAlertRule } from './schema.ts'
import { createAlertRule, deleteAlertRule, getAlertRule, listAlertRules, updateAlertRule } from './service.ts'

export const alertRoutes = (): AnyRoute[] =>
  routes(
    'Alerts',
    {
      listAlertRules: ['GET', '/api/alert-rules', viewer('workspace')],
      createAlertRule: ['POST', '/api/alert-rules', member('workspace')],
      getAlertRule: ['GET', '/api/alert-rules/:rule_id', viewer('alert_rule')],
      updateAlertRule: ['PATCH', '/api/alert-rules/:rule_id', owner('alert_rule')],
      deleteAlertRule: ['DELETE', '/api/alert-rules/:rule_id', owner('alert_rule')],
    },
    {
      listAlertRules: {
        summary: 'Alert rules that the caller may see, with their states',
        query: alertRuleList.query,
        answer: page(AlertRule),
        extension: true,
        run: listAlertRules,
      },
      createAlertRule: {
        summary: 'Create an alert rule for a workflow or the workspace',
        description:
          'Checked every 30 seconds. People are notified once when the rule starts to fire and once when it stops: by a notification, by mail and a channel if ' +
          'configured, and by the events `alert.firing` and `alert.resolved`.',
        body: NewAlertRule,
        answer: AlertRule,
        status: 201,
        location: ({ rule_id }) => `/api/alert-rules/${rule_id}`,
        extension: true,
        examples: { body: { name: 'Orders fail', kind: 'failure_rate', threshold: 0.2, window_s: 900 } },
        run: createAlertRule,
      },
      getAlertRule: { summary: 'One alert rule', answer: AlertRule, extension: true, run: getAlertRule },
      updateAlertRule: {
        summary: 'Change an alert rule, switch it off, or silence it for a while',
        description:
          'While the rule is silenced, no person is notified. If it still fires afterwards, people are notified then.',
        body: AlertRulePatch,
        answer: AlertRule,
        extension: true,
        current: getAlertRule,
        run: updateAlertRule,
      },
      deleteAlertRule: {
        summary: 'Delete an alert rule',
        status: 204,
        extension: true,
        current: getAlertRule,
        run: deleteAlertRule,
      },
    },
  )
