import { toLogUrl, toPeriod } from './alert-links.js';
import { HOUR, MINUTE } from './alert-rules.js';
import type { AlertSite, AlertText } from './alert-text.js';

/** A wave of lockouts, reported in place of the single ones. */
export interface WaveAlert {
  readonly kind: 'lockout-wave';
  readonly uid: string;
  readonly at: number;
  readonly from: number;
  readonly to: number;
  readonly addresses: number;
  readonly failures: number;
  /** The smallest network that contains all addresses, or null. */
  readonly network: string | null;
  /** Attacked accounts that the log contains, most attempts first, with the number of attempts. */
  readonly names: readonly { readonly login: string; readonly failures: number }[];
  /** Whether a login from one of the addresses succeeded; null when the log can't be read. */
  readonly gotIn: boolean | null;
  /** Whether the log has any login from the network; null or absent when that is not known. */
  readonly membersThere?: boolean | null;
}

/** Describes a wave of lockouts for people. */
export function describeWave(alert: WaveAlert, site: AlertSite, toShown: (text: string) => string): AlertText {
  const { translate, counted } = site.language;
  const { addresses, failures, network, gotIn } = alert;
  const shown = network ?? '';
  const tried = counted('They tried {count} password', 'They tried {count} passwords', failures);
  // In a network, the failed logins show whom a block would meet.
  const link = toLogUrl(
    site,
    network === null
      ? { tab: 'registered', activity: 'login.locked', from: alert.from, to: alert.to + MINUTE }
      : { tab: 'registered', search: network, from: alert.from - HOUR, to: alert.to + MINUTE },
  );
  const button = {
    href: link ?? '',
    label: network === null ? translate('See them in the log') : translate('Look at the network'),
  };
  const leads = {
    yes: translate('{tried}, and somebody has logged in from one of these addresses. Look at it now.', { tried }),
    no: translate('{tried} and none was right. You don’t need to do anything.', { tried }),
    unknown: translate('{tried}. You don’t need to do anything.', { tried }),
  };
  const toWrong = (count: number) => counted('{count} wrong password', '{count} wrong passwords', count);
  const listed = alert.names.slice(0, NAMES_MAX);
  const others = failures - listed.reduce((sum, row) => sum + row.failures, 0);
  const networkTasks = {
    yes: translate('Block {network} to end it. Members have logged in from there, too: look at them first.', {
      network: shown,
    }),
    no: translate('Block {network} to end it. The log has no login from there.', { network: shown }),
    unknown: translate('Block {network} to end it.', { network: shown }),
  };
  return {
    severity: gotIn === true ? 'critical' : 'info',
    headline: counted('{count} address was locked in 1 hour', '{count} addresses were locked in 1 hour', addresses),
    lead: leads[toAnswer(gotIn)],
    facts: [
      toPeriod(site, alert.from, alert.to),
      { name: translate('Locked'), value: translate('for 1 hour, then 24 hours, then 7 days') },
    ],
    ...(alert.names.length === 0
      ? {}
      : {
          list: {
            title: translate('Names they tried'),
            rows: [
              ...listed.map((row) => ({ name: toShown(row.login), value: toWrong(row.failures) })),
              ...(others > 0 ? [{ name: translate('Other names'), value: toWrong(others) }] : []),
            ],
          },
        }),
    log: link,
    task: {
      kind: gotIn === true ? 'warn' : 'info',
      title:
        network === null
          ? translate('They stay locked')
          : translate('All {count} come from one network', { count: addresses }),
      text:
        network === null
          ? translate('Each one waits longer after more wrong passwords. Block those that come back.')
          : networkTasks[toAnswer(alert.membersThere ?? null)],
      ...(network === null ? {} : { mono: network }),
      button: link === null ? null : button,
    },
  };
}

const NAMES_MAX = 5;

function toAnswer(known: boolean | null): 'yes' | 'no' | 'unknown' {
  return known === null ? 'unknown' : known ? 'yes' : 'no';
}
