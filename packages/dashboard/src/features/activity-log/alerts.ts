import { type AlertKind, alertKinds } from '@security-optimizer/contract/alerts/catalogue';
import { fetchAlerts } from '@security-optimizer/contract/alerts/endpoints';
import { type AlertRecipient, type Alerts, alertsSchema } from '@security-optimizer/contract/alerts/schemas';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import * as z from 'zod/mini';
import { toCall } from '../../api/client.js';
import { ApiError } from '../../api/envelope.js';
import { REFETCH_WHEN_VISIBLE } from '../../api/queries.js';
import { useSite } from '../../api/site-context.js';
import { readKnown } from '../../api/tolerant-schemas.js';
import { __, _n, sprintf, translate } from '../../i18n/translate.js';
import type { SettingsSource } from '../settings/settings-query.js';
import type { SettingsState } from '../settings/use-settings.js';

/** The alerts as settings. */
export const alertSettings: SettingsSource<Partial<Alerts>> = {
  key: ['alerts'],
  call: toCall(fetchAlerts, {}),
  read: (data) => readKnown(alertsSchema, data),
};

export interface AlertsState {
  /** Null while they load, and if they could not be loaded. */
  readonly alerts: Alerts | null;
  readonly settings: SettingsState<Alerts>;
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
  const { data, error, isFetching } = query;
  const reload = () => void query.refetch();
  return {
    alerts: data ?? null,
    settings:
      data !== undefined
        ? { state: 'ready', values: data, failure: error }
        : error === null
          ? { state: 'loading' }
          : { state: 'failed', failure: error, retrying: isFetching, retry: reload },
    reload,
    store: (data) => {
      const alerts = readAlerts(data);
      if (alerts !== null) client.setQueryData(alertSettings.key, alerts);
    },
    supported: error?.status !== 404,
  };
}

/** @returns null for an invalid response */
function readAlerts(data: unknown): Alerts | null {
  return z.safeParse(alertsSchema, data).data ?? null;
}

/** Rows of the catalogue, in the order of the page. */
export function listKinds(kinds: readonly AlertKind[]) {
  return alertKinds.filter(({ kind }) => kinds.includes(kind));
}

/** Maximum number of kinds that are named; others are counted. */
const NAMED_MAX = 3;

export function alertsFailedText(): string {
  return __('We couldn’t load the alerts.', 'security-optimizer');
}

/** What a recipient gets, if it is known. */
export function findChoices(alerts: Alerts | null, email: string): AlertRecipient | null {
  return alerts?.recipients.find((item) => item.email === email) ?? null;
}

/** Describes a recipient's choices in one line. */
export function getsText(alerts: Alerts, recipient: AlertRecipient | null): string {
  const report = __('Weekly report', 'security-optimizer');
  if (recipient === null) return report;
  const { kinds } = recipient;
  const parts: string[] = recipient.report === 1 ? [report] : [];
  if (kinds.length > 0) {
    const names = listKinds(kinds)
      .map(({ short }) => translate(short.inSentence))
      .join(', ');
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
