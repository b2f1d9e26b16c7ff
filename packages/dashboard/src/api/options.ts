import { type ActivityOptions, activityOptionsSchema } from '@security-optimizer/contract/activity/schemas';
import { type LoginOptions, loginOptionsSchema } from '@security-optimizer/contract/login/schemas';
import { securityOptionsSchema } from '@security-optimizer/contract/settings/options';
import type {
  SecurityField,
  SecurityOptions,
  SiteSecurityToggle,
} from '@security-optimizer/contract/settings/protections';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { isRecord } from '../i18n/locale.js';
import { translate } from '../i18n/translate.js';
import { type ApiCall, ApiFailure } from './client.js';
import { type Notice, weakenedNotice } from './notices.js';
import { usePageVisible, useQueryData } from './query-client.js';
import type { RunRequest } from './run-request.js';
import { useServices } from './services.js';
import { readKnown } from './tolerant.js';

/** How the options of a page are fetched and parsed. */
export interface OptionsSource<Options extends object> {
  readonly key: readonly string[];
  readonly call: ApiCall;
  /** Parses a response; drops invalid fields. */
  readonly read: (data: unknown) => Options;
}

/** The options that the server knows; an older server may lack some. */
export type KnownOptions = Readonly<Partial<SecurityOptions>>;
export type KnownLoginOptions = Readonly<Partial<LoginOptions>>;
export type KnownActivityOptions = Readonly<Partial<ActivityOptions>>;

/**
 * Name of the contract's endpoint `fetchOptions`. Its module is not imported, because it contains the schemas of all
 * requests.
 */
export const FETCH_OPTIONS = 'fetchOptions';

export const securityOptions: OptionsSource<KnownOptions> = {
  key: ['options', 'security'],
  call: { suffix: '/fetch-options', body: { page: 'security' } },
  read: (data) => readKnown(securityOptionsSchema, data),
};

export const loginOptions: OptionsSource<KnownLoginOptions> = {
  key: ['options', 'login'],
  call: { suffix: '/fetch-options', body: { page: 'login' } },
  read: (data) => readKnown(loginOptionsSchema, data),
};

export const activityOptions: OptionsSource<KnownActivityOptions> = {
  key: ['options', 'activity'],
  call: { suffix: '/fetch-options', body: { page: 'activity' } },
  read: (data) => readKnown(activityOptionsSchema, data),
};

/** Retention of the log in days; null if unknown. */
export function keptDays({ log_lifetime }: KnownActivityOptions): number | null {
  return log_lifetime?.find(({ selected }) => selected === 1)?.value ?? null;
}

/** The jobs of Post-hack Actions. That page parses them, so that the schema is not part of every page. */
export const postHackSource: OptionsSource<{ readonly jobs?: unknown; readonly facts?: unknown }> = {
  key: ['post-hack'],
  call: { suffix: '/post-hack-jobs', body: {} },
  read: (data) => (isRecord(data) && 'jobs' in data ? data : {}),
};

/** Query for the options of the page. Fetched once; refetched only on request. */
export function optionsQuery<Options extends object>(source: OptionsSource<Options>, run: RunRequest) {
  return queryOptions({
    queryKey: source.key,
    queryFn: async (): Promise<Options> =>
      parseNonEmpty(source, await run<unknown>({ name: FETCH_OPTIONS, call: source.call })),
    staleTime: Number.POSITIVE_INFINITY,
    // The response may arrive before the page is drawn; a failure has then been reported.
    retryOnMount: false,
  });
}

/** @throws ApiFailure if no field is valid */
export function parseNonEmpty<Options extends object>(source: OptionsSource<Options>, data: unknown): Options {
  const options = source.read(data);
  if (Object.keys(options).length === 0) throw new ApiFailure('refused');
  return options;
}

export type OptionsState<Options> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly failure: ApiFailure; readonly retrying: boolean; readonly retry: () => void }
  | { readonly state: 'ready'; readonly options: Options };

export interface OptionsStore<Options> {
  /** Stores the response to a change. */
  readonly store: (change: Partial<Options>) => void;
  /** Fetches them again in the background; a failure changes nothing. */
  readonly reload: () => Promise<void>;
}

/** Known options, and the functions that change them. */
export interface StoredOptions<Options> extends OptionsStore<Options> {
  readonly options: Options;
}

/** Fetches the options of a page, and again when the page becomes visible. */
export function useOptions<Options extends object>(
  source: OptionsSource<Options>,
): OptionsState<Options> & OptionsStore<Options> {
  const { run, api } = useServices();
  const client = useQueryClient();
  const query = useQuery(optionsQuery(source, run));

  /** Number of stored changes. */
  const stored = useRef(0);

  const store = useCallback(
    (change: Partial<Options>) => {
      stored.current += 1;
      client.setQueryData<Options>(source.key, (options) => ({ ...options, ...change }) as Options);
    },
    [client, source],
  );

  async function reload(): Promise<void> {
    const before = stored.current;
    const response = await api.call<unknown>(source.call).catch(ignoreFailure);
    // A change that was stored after the request is newer than this response.
    if (response !== undefined && stored.current === before) store(source.read(response.data));
  }

  usePageVisible(() => {
    if (query.data !== undefined) void reload();
  });

  const actions = { store, reload };
  if (query.data !== undefined) return { state: 'ready', options: query.data, ...actions };
  if (query.error === null) return { state: 'loading', ...actions };
  return {
    state: 'failed',
    failure: query.error,
    retrying: query.isFetching,
    retry: () => query.refetch(),
    ...actions,
  };
}

/** State of the last change of an option; no entry means that nothing is pending. */
export interface ChangeState<Options> {
  readonly state: 'saving' | 'failed';
  readonly target: Partial<Options>;
}
export type Changes<Options> = Readonly<Record<string, ChangeState<Options>>>;

export interface Change<Options> {
  /** Request name. Only one change of a name runs at a time. */
  readonly name: string;
  readonly call: ApiCall;
  /** The options after the change, unless the response differs. */
  readonly target: Partial<Options>;
  /** Success text; without it only the server's message is shown. */
  readonly successText?: (stored: Partial<Options>, message: string) => string;
  /** The notice of success, which replaces all texts. */
  readonly successNotice?: (stored: Partial<Options>, message: string) => Notice;
  readonly onSuccess?: (data: unknown) => void;
}

/**
 * Changes options, several at a time, each independently. The response goes to `store`. A failed change stores nothing.
 * If the outcome is unknown, the options are fetched again.
 */
export function useChanges<Options extends object>(
  source: OptionsSource<Options>,
  store: (change: Partial<Options>) => void,
): { readonly changes: Changes<Options>; readonly change: (change: Change<Options>) => void } {
  const { run, api, notices } = useServices();
  const client = useQueryClient();
  const [changes, setChanges] = useState<Changes<Options>>({});
  useEffect(() => {
    client.setQueryData<Changes<Options>>(toPendingKey(source.key), changes);
  }, [client, source, changes]);
  // There may be two clicks before React renders; the second one must see the first.
  const running = useRef(new Set<string>());

  function mark(name: string, state: ChangeState<Options> | null): void {
    setChanges(({ [name]: _last, ...others }) => (state === null ? others : { ...others, [name]: state }));
  }

  async function reloadOption({ name, target }: Change<Options>): Promise<void> {
    const response = await api.call<unknown>(source.call).catch(ignoreFailure);
    if (response === undefined || running.current.has(name)) return;
    const read = pick(source.read(response.data), target);
    store(read);
    if (JSON.stringify(read) !== JSON.stringify(pick(target, target))) return;
    mark(name, null);
    notices.closeKey(name);
  }

  function change(item: Change<Options>): void {
    const { name, target } = item;
    if (running.current.has(name)) return;
    running.current.add(name);
    mark(name, { state: 'saving', target });
    const stored = (data: unknown): Partial<Options> => ({ ...target, ...source.read(data) });
    run<unknown>({
      name,
      call: item.call,
      successText: (data, message) => item.successText?.(stored(data), message) ?? '',
      ...(item.successNotice && {
        successNotice: (data: unknown, message: string) =>
          (item.successNotice as NonNullable<typeof item.successNotice>)(stored(data), message),
      }),
      onSuccess: (data) => {
        store(stored(data));
        mark(name, null);
        item.onSuccess?.(data);
      },
      onFailure: (failure) => {
        mark(name, { state: 'failed', target });
        if (mayHaveBeenSaved(failure)) void reloadOption(item);
      },
      onComplete: () => running.current.delete(name),
    }).catch(ignoreFailure);
  }

  return { changes, change };
}

export type Toggle = SiteSecurityToggle & { readonly field: SecurityField };

/** Request name of an option; equals the contract's endpoint name. */
export function toggleRequestName(field: string): string {
  return `update:${field}`;
}

/** Mutations of the switches of Site Security. */
export function useToggles(store: (change: KnownOptions) => void): {
  readonly changes: Changes<KnownOptions>;
  readonly change: (toggle: Toggle, wanted: 0 | 1) => void;
} {
  const { changes, change } = useChanges<KnownOptions>(securityOptions, store);
  function toText({ messages: { on, off } }: Toggle, value: 0 | 1 | undefined, message: string): string {
    const usual = value === 1 ? on : off;
    // A message of the server, for example about a partial failure, would contradict the usual text.
    return message === '' || message === usual ? translate(usual) : '';
  }

  function set(toggle: Toggle, wanted: 0 | 1): void {
    const { field } = toggle;
    change({
      name: toggleRequestName(field),
      call: { suffix: toggle.suffix, body: { [field]: wanted } },
      target: { [field]: wanted },
      successText: (stored, message) => toText(toggle, stored[field], message),
      ...(wanted === 0 && {
        successNotice: (stored, message) =>
          weakenedNotice(toText(toggle, stored[field], message) || translate(message), () => set(toggle, 1)),
      }),
    });
  }

  return { changes, change: set };
}

/** The options to show, including pending changes. */
export function withPending<Options extends object>(stored: Options, changes: Changes<Options>): Options {
  const pending = Object.values(changes).filter(({ state }) => state === 'saving');
  return Object.assign({}, stored, ...pending.map(({ target }) => target)) as Options;
}

/** Key of the changes that are being saved, for `usePending`. */
function toPendingKey(key: readonly string[]): readonly string[] {
  return ['changes', ...key];
}

const NO_CHANGES = {};

/** Pending changes of options by another part of the page; pass them to `withPending`. */
export function usePending<Options extends object>(source: OptionsSource<Options>): Changes<Options> {
  return useQueryData<Changes<Options>>(toPendingKey(source.key)) ?? NO_CHANGES;
}

/** The fields of `options` that `like` has, in the order of `like`. */
function pick<Options extends object>(options: Partial<Options>, like: Partial<Options>): Partial<Options> {
  const names = (Object.keys(like) as (keyof Options)[]).filter((name) => options[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, options[name]])) as Partial<Options>;
}

/** Whether the outcome of a failed change is unknown. Guard rejects a change with a JSON response. */
export function mayHaveBeenSaved(failure: ApiFailure): boolean {
  return failure.kind === 'no_response' || failure.kind === 'not_json';
}

/** For `catch`: the request's notice has reported an ApiFailure. Rethrows any other error. */
export function ignoreFailure(error: unknown): undefined {
  if (!(error instanceof ApiFailure)) throw error;
}

/** Time zone of the site from the login options; the browser's until they are known. */
export function useSiteZone(): string {
  const options = useQueryData<KnownLoginOptions>(loginOptions.key);
  return options?.away_mode?.timezone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC';
}
