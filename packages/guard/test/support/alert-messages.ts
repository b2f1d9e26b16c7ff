import type { AlertText } from '../../src/alerts/alert-text.js';
import type { Resolve, TargetPolicy } from '../../src/alerts/safe-target.js';
import type { AlertMessage } from '../../src/alerts/webhook.js';

/** When the alerts below happened, milliseconds since the Unix epoch. */
export const ALERTED_AT = Date.UTC(2026, 10, 21, 14, 0, 5);

export const alertText = (change: Partial<AlertText> = {}): AlertText => ({
  severity: 'warning',
  headline: 'owner logged in on a new device',
  lead: 'If it was this person, there is nothing to do.',
  facts: [{ name: 'Login', value: 'owner' }],
  task: { kind: 'warn', title: 'Was it not you?', text: 'Force a password reset.', button: null },
  log: null,
  ...change,
});

export const alertMessage = (change: Partial<AlertText> = {}): AlertMessage => ({
  uid: 'abc',
  kind: 'administrator-login',
  at: ALERTED_AT,
  site: { id: 'site', url: 'https://example.com' },
  text: alertText(change),
});

/** Allows receivers on this machine. */
export const localTargets: TargetPolicy = { privateTargets: ['127.0.0.0/8', '::1'], plainHttp: true };

/** Dependencies of a delivery to a receiver on this machine. `announced` counts the calls of `onSend`. */
export function sendingTo(change: Partial<TargetPolicy> = {}, resolve: Resolve = async () => ['127.0.0.1']) {
  const deps = {
    policy: { ...localTargets, ...change },
    resolve,
    announced: 0,
    onSend: async () => {
      deps.announced++;
    },
  };
  return deps;
}
