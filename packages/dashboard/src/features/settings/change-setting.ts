import { type EndpointField, settingEndpoint } from '@security-optimizer/contract/settings/endpoints';
import type { SecurityField, SiteSecurityToggle } from '@security-optimizer/contract/settings/protections';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { ApiCall } from '../../api/client.js';
import { ignoreApiError, isOutcomeUnknown } from '../../api/envelope.js';
import { useQueryData } from '../../api/queries.js';
import { useSite } from '../../api/site-context.js';
import { useRequestRunners } from '../../forms/tracked-requests.js';
import { translate } from '../../i18n/translate.js';
import { type Toast, useToasts, weakenedToast } from '../../ui/toast-store.js';
import { type SecuritySettings, type SettingsSource, securitySettings } from './settings-query.js';

/** State of the last change of a setting; no entry means that nothing is pending. */
export interface ChangeState<Values> {
  readonly state: 'saving' | 'failed';
  readonly target: Partial<Values>;
}
export type Changes<Values> = Readonly<Record<string, ChangeState<Values>>>;

export interface Change<Values> {
  /** Only one change of an endpoint runs at a time. */
  readonly call: ApiCall;
  /** The settings after the change, unless the response differs. */
  readonly target: Partial<Values>;
  /** Success text; without it only the server's message is shown. */
  readonly successText?: (stored: Partial<Values>, message: string) => string;
  /** The toast of success, which replaces all texts. */
  readonly successToast?: (stored: Partial<Values>, message: string) => Toast;
  readonly onSuccess?: (data: unknown) => void;
}

/**
 * Changes settings, several at a time, each independently. The response goes to `store`. A failed change stores nothing.
 * If the outcome is unknown, the settings are fetched again.
 */
export function useChanges<Values extends object>(
  source: SettingsSource<Values>,
  store: (change: Partial<Values>) => void,
): { readonly changes: Changes<Values>; readonly change: (change: Change<Values>) => void } {
  const { api } = useSite();
  const { run } = useRequestRunners();
  const toasts = useToasts();
  const client = useQueryClient();
  const [changes, setChanges] = useState<Changes<Values>>({});
  useEffect(() => {
    client.setQueryData<Changes<Values>>(toPendingKey(source.key), changes);
  }, [client, source, changes]);
  // There may be two clicks before React renders; the second one must see the first.
  const running = useRef(new Set<string>());

  function mark(name: string, state: ChangeState<Values> | null): void {
    setChanges(({ [name]: _last, ...others }) => (state === null ? others : { ...others, [name]: state }));
  }

  async function reloadSetting({ call, target }: Change<Values>): Promise<void> {
    const { name } = call.endpoint;
    const response = await api.call<unknown>(source.call).catch(ignoreApiError);
    if (response === undefined || running.current.has(name)) return;
    const read = pick(source.read(response.data), target);
    store(read);
    if (JSON.stringify(read) !== JSON.stringify(pick(target, target))) return;
    mark(name, null);
    toasts.closeKey(name);
  }

  function change(item: Change<Values>): void {
    const { call, target } = item;
    const { name } = call.endpoint;
    if (running.current.has(name)) return;
    running.current.add(name);
    mark(name, { state: 'saving', target });
    const stored = (data: unknown): Partial<Values> => ({ ...target, ...source.read(data) });
    run<unknown>({
      call,
      successText: (data, message) => item.successText?.(stored(data), message) ?? '',
      ...(item.successToast && {
        successToast: (data: unknown, message: string) =>
          (item.successToast as NonNullable<typeof item.successToast>)(stored(data), message),
      }),
      onSuccess: (data) => {
        store(stored(data));
        mark(name, null);
        item.onSuccess?.(data);
      },
      onFailure: (failure) => {
        mark(name, { state: 'failed', target });
        if (isOutcomeUnknown(failure)) void reloadSetting(item);
      },
      onComplete: () => running.current.delete(name),
    }).catch(ignoreApiError);
  }

  return { changes, change };
}

export type Toggle = SiteSecurityToggle & { readonly field: SecurityField };

/** The call that changes a simple setting. */
export function toSettingCall(field: EndpointField, value: number): ApiCall {
  return { endpoint: settingEndpoint(field), request: { [field]: value } };
}

/** Mutations of the switches of Site Security. */
export function useToggles(store: (change: SecuritySettings) => void): {
  readonly changes: Changes<SecuritySettings>;
  readonly change: (toggle: Toggle, wanted: 0 | 1) => void;
} {
  const { changes, change } = useChanges<SecuritySettings>(securitySettings, store);
  function toText({ messages: { on, off } }: Toggle, value: 0 | 1 | undefined, message: string): string {
    const usual = value === 1 ? on : off;
    // A message of the server, for example about a partial failure, would contradict the usual text.
    return message === '' || message === usual ? translate(usual) : '';
  }

  function set(toggle: Toggle, wanted: 0 | 1): void {
    const { field } = toggle;
    change({
      call: toSettingCall(field, wanted),
      target: { [field]: wanted },
      successText: (stored, message) => toText(toggle, stored[field], message),
      ...(wanted === 0 && {
        successToast: (stored, message) =>
          weakenedToast(toText(toggle, stored[field], message) || translate(message), () => set(toggle, 1)),
      }),
    });
  }

  return { changes, change: set };
}

/** The settings to show, including pending changes. */
export function withPending<Values extends object>(stored: Values, changes: Changes<Values>): Values {
  const pending = Object.values(changes).filter(({ state }) => state === 'saving');
  return Object.assign({}, stored, ...pending.map(({ target }) => target)) as Values;
}

/** Key of the changes that are being saved, for `usePending`. */
function toPendingKey(key: readonly string[]): readonly string[] {
  return ['changes', ...key];
}

const NO_CHANGES = {};

/** Pending changes of settings by another part of the page; pass them to `withPending`. */
export function usePending<Values extends object>(source: SettingsSource<Values>): Changes<Values> {
  return useQueryData<Changes<Values>>(toPendingKey(source.key)) ?? NO_CHANGES;
}

/** The fields of `settings` that `like` has, in the order of `like`. */
function pick<Values extends object>(values: Partial<Values>, like: Partial<Values>): Partial<Values> {
  const names = (Object.keys(like) as (keyof Values)[]).filter((name) => values[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, values[name]])) as Partial<Values>;
}
