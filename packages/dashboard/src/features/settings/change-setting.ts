import {
  type SettingRow,
  settingRequestName,
  toSettingEndpoint,
} from '@security-optimizer/contract/settings/catalogue';
import { useMutation, useMutationState, useQueryClient } from '@tanstack/react-query';
import type { ApiCall } from '../../api/client.js';
import { ignoreApiError, isOutcomeUnknown } from '../../api/envelope.js';
import type { OutcomeMessage } from '../../api/outcome-messages.js';
import { useSite } from '../../api/site-context.js';
import { translate } from '../../i18n/translate.js';
import { useToasts, weakenedToast } from '../../ui/toast-store.js';
import type { SettingsSource } from './settings-query.js';
import { useKnownSettings, useSettingsCache } from './use-settings.js';

/** Key of the changes of settings; followed by the key of the settings and the name of the request. */
const CHANGE_KEY = 'change';

export interface Change<Values> {
  readonly call: ApiCall;
  /** The settings after the change, unless the response differs. */
  readonly target: Partial<Values>;
  readonly successText?: (stored: Partial<Values>, message: string) => string;
  /** The message of success, which replaces all texts. */
  readonly successMessage?: ((stored: Partial<Values>, message: string) => OutcomeMessage) | undefined;
  readonly onSuccess?: (data: unknown) => void;
}

/** The last change of a setting; its state is null if it succeeded or there was none. */
export interface ChangeState<Values> {
  readonly state: 'saving' | 'failed' | null;
  readonly target: Partial<Values>;
  readonly change: (change: Change<Values>) => void;
}

/**
 * Changes a setting. Only one change of a request name runs at a time; others are ignored. The response is stored. A
 * failed change stores nothing. If its outcome is unknown, the setting is fetched again.
 *
 * @param name name of the request
 */
export function useChange<Values extends object>(source: SettingsSource<Values>, name: string): ChangeState<Values> {
  const { api } = useSite();
  const toasts = useToasts();
  const client = useQueryClient();
  const { store } = useSettingsCache(source);
  const mutationKey = [CHANGE_KEY, ...source.key, name];
  const toStored = ({ target }: Change<Values>, data: unknown) => ({ ...target, ...source.read(data) });

  const { isPending, isError, variables, mutateAsync, reset } = useMutation({
    mutationKey,
    mutationFn: (item: Change<Values>) => {
      const { successText, successMessage } = item;
      return api.call<unknown>(item.call, {
        successText: (data, message) => successText?.(toStored(item, data), message) ?? '',
        ...(successMessage && { successMessage: (data, message) => successMessage(toStored(item, data), message) }),
      });
    },
    onSuccess: ({ data }, item) => {
      store(toStored(item, data));
      item.onSuccess?.(data);
    },
    onError: (failure, item) => {
      if (isOutcomeUnknown(failure)) void refetchSetting(item);
    },
  });

  const isRunning = (): boolean => client.isMutating({ mutationKey }) > 0;

  /** Fetches the setting. If it has the wanted value, the change was made and its error goes. */
  async function refetchSetting({ target }: Change<Values>): Promise<void> {
    const response = await api.call<unknown>(source.call).catch(ignoreApiError);
    if (response === undefined || isRunning()) return;
    const read = pick(source.read(response.data), target);
    store(read);
    if (JSON.stringify(read) !== JSON.stringify(pick(target, target))) return;
    reset();
    toasts.closeKey(name);
  }

  return {
    state: isPending ? 'saving' : isError ? 'failed' : null,
    target: variables?.target ?? {},
    change(item) {
      if (!isRunning()) mutateAsync(item).catch(ignoreApiError);
    },
  };
}

/** What is being saved anywhere on the page, to be shown instead of the stored settings. */
export function usePending<Values extends object>(source: SettingsSource<Values>): Partial<Values> {
  const targets = useMutationState({
    filters: { mutationKey: [CHANGE_KEY, ...source.key], status: 'pending' },
    select: ({ state }) => (state.variables as Change<Values>).target,
  });
  return Object.assign({}, ...targets);
}

export interface ChangeOptions {
  /** Called after a change was stored. */
  readonly onStored?: (data: unknown, change: { before: number; after: number; isUndo: boolean }) => void;
  /** The message that offers Undo. Default: one about a protection that is off. */
  readonly undoMessage?: (text: string, undo: () => void) => OutcomeMessage;
  /** Called instead of Undo. */
  readonly onUndo?: (() => void) | undefined;
}

/** The row of a simple setting: its value, and the state of its last change. */
export interface SettingControl {
  readonly setting: SettingRow;
  /** The stored value; undefined if the server does not know the setting. */
  readonly stored: number | undefined;
  /** The value to show: the one that is being saved, or the stored one. */
  readonly shown: number;
  /** Value of the last change, if it has failed. */
  readonly failed: number | null;
  readonly pending: boolean;
  /** Choices of a list; [] for a switch. */
  readonly choices: readonly Choice[];
  readonly set: (value: number) => void;
}

interface Choice {
  readonly value: number;
  readonly label: string;
  readonly selected: 0 | 1;
}

/** Value and change of a simple setting of the catalogue. Its settings must be known. */
export function useSetting<Values extends object>(
  source: SettingsSource<Values>,
  setting: SettingRow,
  options: ChangeOptions = {},
): SettingControl {
  const values = useKnownSettings(source);
  const { state, target, change } = useChange(source, settingRequestName(setting.field));
  const { field, messages } = setting;
  const stored = getValue(values, field);
  const latest = getValue(target, field);
  const choices = toChoices(values, field);

  function set(after: number, isUndo = false): void {
    const before = stored ?? 0;
    const toText = (value: number | undefined, message: string): string => {
      const usual = messages?.[value === 1 ? 'on' : 'off'];
      // A message of the server, for example about a partial failure, would contradict the usual text.
      return usual === undefined || (message !== '' && message !== usual) ? '' : translate(usual);
    };
    const { onStored, onUndo = () => set(before, true), undoMessage = weakenedToast } = options;
    const list = choices.map((item) => ({ ...item, selected: item.value === after ? 1 : 0 }));
    change({
      call: { endpoint: toSettingEndpoint(setting), request: { [field]: after } },
      target: { [field]: choices.length > 0 ? list : after } as Partial<Values>,
      successText: (read, message) => toText(getValue(read, field), message),
      successMessage: setting.offersUndo?.(before, after)
        ? (read, message) => undoMessage(toText(getValue(read, field), message) || translate(message), onUndo)
        : undefined,
      onSuccess: (data) => onStored?.(data, { before, after, isUndo }),
    });
  }

  return {
    setting,
    stored,
    shown: (state === 'saving' ? latest : undefined) ?? stored ?? 0,
    failed: state === 'failed' ? (latest ?? null) : null,
    pending: state === 'saving',
    choices,
    set: (value) => set(value),
  };
}

function toChoices(values: object, field: string): readonly Choice[] {
  const value: unknown = (values as Readonly<Record<string, unknown>>)[field];
  return Array.isArray(value) ? value : [];
}

function getValue(values: object, field: string): number | undefined {
  const value = (values as Readonly<Record<string, unknown>>)[field];
  return Array.isArray(value)
    ? (toChoices(values, field).find(({ selected }) => Number(selected) === 1)?.value ?? 0)
    : (value as number | undefined);
}

/** The fields of `settings` that `like` has, in the order of `like`. */
function pick<Values extends object>(values: Partial<Values>, like: Partial<Values>): Partial<Values> {
  const names = (Object.keys(like) as (keyof Values)[]).filter((name) => values[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, values[name]])) as Partial<Values>;
}
