import * as z from 'zod/mini';
import { endpoint } from '../endpoint.js';
import { alertRows } from '../settings/catalogue.js';
import { settingEndpoints } from '../settings/endpoints.js';
import { flag } from '../shapes.js';
import { alertsSchema } from './schemas.js';

export const fetchAlerts = endpoint({
  name: 'fetchAlerts',
  suffix: '/alerts',
  methods: ['POST', 'GET'],
  response: alertsSchema,
});

export const updateAlertRecipient = endpoint({
  name: 'update:alert_recipient',
  suffix: '/alert-recipient',
  methods: ['POST'],
  response: alertsSchema,
});

export const updateAlertWebhook = endpoint({
  name: 'update:alert_webhook',
  suffix: '/alert-webhook',
  methods: ['POST'],
  response: alertsSchema,
});

export const updateAlertSlack = endpoint({
  name: 'update:alert_slack',
  suffix: '/alert-slack',
  methods: ['POST'],
  response: alertsSchema,
});

export const updateAlertSyslog = endpoint({
  name: 'update:alert_syslog',
  suffix: '/alert-syslog',
  methods: ['POST'],
  response: alertsSchema,
});

export const testAlerts = endpoint({
  name: 'testAlerts',
  suffix: '/alert-test',
  methods: ['POST'],
  /** `sent`: number of recipients, for mail. */
  response: z.object({ ok: flag, sent: z.int(), text: z.string(), alerts: alertsSchema }),
});

/** Endpoints of the alerts on the tab Weekly Reports. */
export const alertEndpoints = [
  fetchAlerts,
  updateAlertRecipient,
  updateAlertWebhook,
  updateAlertSlack,
  updateAlertSyslog,
  ...settingEndpoints(alertRows),
  testAlerts,
] as const;
