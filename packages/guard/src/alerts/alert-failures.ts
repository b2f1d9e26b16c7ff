import { type ServerText, toParam } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import type { ChannelState } from './alert-queue.js';
import { type AlertSettings, CHANNELS } from './alert-settings.js';

/** Failures in a row from which on the owner is told: a service that restarts fails once. */
const FAILURES_REPORTED = 2;

const NAMES = { webhook: 'Webhook', slack: 'Slack', syslog: 'System log' } as const;

/**
 * Why alerts do not arrive, for the owner, or null: they do, or may with the next try.
 * @param emails recipients of the tab Weekly Reports
 */
export function describeFailures(
  channels: readonly ChannelState[],
  settings: AlertSettings,
  emails: readonly string[],
): ServerText | null {
  const used = [...CHANNELS.filter((name) => settings[name] !== null), ...emails];
  const [first] = channels.filter(({ channel, failures }) => failures >= FAILURES_REPORTED && used.includes(channel));
  if (first === undefined) return null;
  const name = CHANNELS.find((channel) => channel === first.channel);
  return serverMessage('alerts_failed', {
    channel: name === undefined ? first.channel : { text: NAMES[name] },
    count: first.waiting,
    reason: toParam(first.answer),
  });
}
