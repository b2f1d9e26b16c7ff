import { fetchAlerts } from '@security-optimizer/contract/alerts/endpoints';
import { type AlertKind, type Alerts, alertsSchema } from '@security-optimizer/contract/alerts/schemas';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import * as z from 'zod/mini';
import { toCall } from '../../api/client.js';
import { ApiError } from '../../api/envelope.js';
import { REFETCH_WHEN_VISIBLE } from '../../api/queries.js';
import { useSite } from '../../api/site-context.js';
import { readKnown } from '../../api/tolerant-schemas.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import type { SettingsSource } from '../settings/settings-query.js';

/** The alerts as settings. */
export const alertSettings: SettingsSource<Partial<Alerts>> = {
  key: ['alerts'],
  call: toCall(fetchAlerts, {}),
  read: (data) => readKnown(alertsSchema, data),
};

export interface AlertsState {
  /** Null while they load, and if they could not be loaded. */
  readonly alerts: Alerts | null;
  readonly failure: ApiError | null;
  readonly retrying: boolean;
  readonly reload: () => void;
  /** Shows the response to a change. */
  readonly store: (data: unknown) => void;
  /** An older server has no alerts. */
  readonly supported: boolean;
}

/** The alerts of each recipient, and the channels. */
export function useAlerts(): AlertsState {
  const { api } = useSite();
  const client = useQueryClient();
  const query = useQuery({
    queryKey: alertSettings.key,
    queryFn: async ({ signal }): Promise<Alerts> => {
      const alerts = readAlerts((await api.call<unknown>({ ...alertSettings.call, signal })).data);
      if (alerts === null) throw new ApiError('refused');
      return alerts;
    },
    ...REFETCH_WHEN_VISIBLE,
  });
  const failure = query.error instanceof ApiError ? query.error : null;
  return {
    alerts: query.data ?? null,
    failure,
    retrying: query.isFetching,
    reload: () => void query.refetch(),
    store: (data) => {
      const alerts = readAlerts(data);
      if (alerts !== null) client.setQueryData(alertSettings.key, alerts);
    },
    supported: failure?.status !== 404,
  };
}

/** @returns null for an invalid response */
function readAlerts(data: unknown): Alerts | null {
  return z.safeParse(alertsSchema, data).data ?? null;
}

export interface KindTexts {
  readonly icon: string;
  readonly title: string;
  readonly help: string;
  /** Its name in the list of a recipient's choices. */
  readonly short: string;
}

/** The texts of a kind. */
export function kindTexts(kind: AlertKind): KindTexts {
  switch (kind) {
    case 'new-administrator':
      return {
        icon: 'user',
        title: __('A new administrator', 'security-optimizer'),
        help: __('Or somebody who becomes one.', 'security-optimizer'),
        short: __('new administrator', 'security-optimizer'),
      };
    case 'administrator-login':
      return {
        icon: 'key',
        title: __('An administrator on a new device', 'security-optimizer'),
        help: __('Or from a new network.', 'security-optimizer'),
        short: __('new device', 'security-optimizer'),
      };
    case 'lockout-wave':
      return {
        icon: 'lock',
        title: __('Many lockouts at once', 'security-optimizer'),
        help: __('10 or more within 1 hour.', 'security-optimizer'),
        short: __('lockouts', 'security-optimizer'),
      };
    case 'checkup-finding':
      return {
        icon: 'search',
        title: __('A checkup finds something', 'security-optimizer'),
        help: __('Or could not run.', 'security-optimizer'),
        short: __('checkup', 'security-optimizer'),
      };
    case 'protection-off':
      return {
        icon: 'shield',
        title: __('A protection is switched off', 'security-optimizer'),
        help: __('Says who did it.', 'security-optimizer'),
        short: __('protection off', 'security-optimizer'),
      };
    case 'software-added':
      return {
        icon: 'plugin',
        title: __('A plugin is added or switched on', 'security-optimizer'),
        help: __('Also a theme.', 'security-optimizer'),
        short: __('plugins', 'security-optimizer'),
      };
    case 'vulnerability-found':
      return {
        icon: 'alert',
        title: __('A plugin has a known hole', 'security-optimizer'),
        help: __('With the update that closes it.', 'security-optimizer'),
        short: __('known holes', 'security-optimizer'),
      };
    case 'trouble':
      return {
        icon: 'plug',
        title: __('The protection itself has trouble', 'security-optimizer'),
        help: __('Also when WordPress is down.', 'security-optimizer'),
        short: __('trouble', 'security-optimizer'),
      };
  }
}

/** Maximum number of kinds that are named; others are counted. */
const NAMED_MAX = 3;

/** Describes a recipient's choices in one line. */
export function getsText(alerts: Alerts, email: string): string {
  const recipient = alerts.recipients.find((item) => item.email === email);
  const report = __('Weekly report', 'security-optimizer');
  if (recipient === undefined) return report;
  const { kinds } = recipient;
  const parts: string[] = recipient.report === 1 ? [report] : [];
  if (kinds.length > 0) {
    const names = kinds.map((kind) => kindTexts(kind).short).join(', ');
    parts.push(
      kinds.length === alerts.kinds.length
        ? /* translators: %d: number of kinds of alerts */
          sprintf(_n('all %d alerts', 'all %d alerts', kinds.length, 'security-optimizer'), kinds.length)
        : kinds.length > NAMED_MAX
          ? /* translators: %d: number of kinds of alerts */
            sprintf(_n('%d alert', '%d alerts', kinds.length, 'security-optimizer'), kinds.length)
          : sprintf(
              /* translators: 1: number of kinds of alerts, 2: their names */
              _n('%1$d alert: %2$s', '%1$d alerts: %2$s', kinds.length, 'security-optimizer'),
              kinds.length,
              names,
            ),
    );
  }
  const text = parts.join(', ');
  return text === '' ? __('Nothing', 'security-optimizer') : text.charAt(0).toLocaleUpperCase() + text.slice(1);
}
