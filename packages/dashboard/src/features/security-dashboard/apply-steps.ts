import { customLoginUrl, disableAdminUsername, twoFactor } from '@security-optimizer/contract/login/endpoints';
import { type SettingRow, toSettingEndpoint } from '@security-optimizer/contract/settings/catalogue';
import { dropUnseen } from '@security-optimizer/contract/typed-text';
import { useState } from 'react';
import { type ApiCall, SILENT, toCall } from '../../api/client.js';
import { ApiError, ignoreApiError } from '../../api/envelope.js';
import { failureReason } from '../../api/outcome-messages.js';
import { useSite } from '../../api/site-context.js';
import { type LoginUrlForm, toLoginPath } from '../login-settings/login-forms.js';
import { loginSettings, type SettingsSource, securitySettings } from '../settings/settings-query.js';
import { useSettingsCache } from '../settings/use-settings.js';
import { openSteps, type StepId, stepRows } from './steps.js';

/** State of a change. `text` is the server's message or the error. */
export interface StepResult {
  readonly state: 'waiting' | 'running' | 'done' | 'failed';
  readonly text: string;
  /** Errors by field. */
  readonly fields: Readonly<Record<string, string>>;
}

export interface Apply {
  readonly results: Readonly<Partial<Record<StepId, StepResult>>>;
  readonly running: boolean;
  /** URL to set up the own second factor, after it was enabled here. */
  readonly setUpUrl: string | null;
  /** Makes the changes in order. Resolves with all errors by field. */
  readonly start: (calls: readonly (readonly [StepId, ApiCall])[]) => Promise<Readonly<Record<string, string>>>;
}

/**
 * Makes several changes in order. A failure does not stop the others, except the end of the session. Then fetches the
 * settings again, because a change may have been made although its response was lost.
 */
export function useApply(): Apply {
  const { api } = useSite();
  const security = useSettingsCache(securitySettings);
  const login = useSettingsCache(loginSettings);
  const [results, setResults] = useState<Apply['results']>({});
  const [running, setRunning] = useState(false);
  const [setUpUrl, setSetUpUrl] = useState<string | null>(null);

  function mark(id: StepId, state: StepResult['state'], text = '', fields: StepResult['fields'] = {}): void {
    setResults((all) => ({ ...all, [id]: { state, text, fields } }));
  }

  async function make(id: StepId, call: ApiCall): Promise<ApiError | null> {
    mark(id, 'running');
    try {
      const { data, message } = await api.call<unknown>(call, SILENT);
      if (id === 'sg2fa') setSetUpUrl(loginSettings.read(data).two_factor_setup_url ?? null);
      mark(id, 'done', message);
      return null;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      mark(id, 'failed', failureReason(error), error.fields);
      return error;
    }
  }

  async function read<Options extends object>(source: SettingsSource<Options>): Promise<Options | null> {
    const response = await api.call<unknown>(source.call).catch(ignoreApiError);
    const values = response === undefined ? null : source.read(response.data);
    return values !== null && Object.keys(values).length > 0 ? values : null;
  }

  async function start(calls: readonly (readonly [StepId, ApiCall])[]): Promise<Readonly<Record<string, string>>> {
    setRunning(true);
    for (const [id] of calls) mark(id, 'waiting');
    const failures = new Map<StepId, ApiError>();
    let fatalFailure: ApiError | null = null;
    for (const [id, call] of calls) {
      if (fatalFailure !== null) {
        mark(id, 'failed', failureReason(fatalFailure));
        continue;
      }
      const failure = await make(id, call);
      if (failure === null) continue;
      failures.set(id, failure);
      if (failure.kind === 'session_gone') fatalFailure = failure;
    }
    if (fatalFailure === null) {
      const [nowSecurity, nowLogin] = await Promise.all([read(securitySettings), read(loginSettings)]);
      if (nowSecurity !== null) security.store(nowSecurity);
      if (nowLogin !== null) login.store(nowLogin);
      if (nowSecurity !== null && nowLogin !== null) {
        const open = new Set(openSteps(nowSecurity, nowLogin).map(({ id }) => id));
        for (const id of Array.from(failures.keys())) {
          if (open.has(id)) continue;
          mark(id, 'done');
          failures.delete(id);
        }
      }
    }
    setRunning(false);
    return Object.assign({}, ...Array.from(failures.values(), ({ fields }) => fields));
  }

  return { results, running, setUpUrl, start };
}

/** Values of the steps that need input. */
export interface ApplyForm {
  readonly url: LoginUrlForm;
  /** New usernames by user ID. */
  readonly names: Readonly<Record<string, string>>;
}

/**
 * Changes that may log out the owner are last: a new username may end the session, and two-factor authentication leads
 * to its set-up.
 */
const LAST: readonly StepId[] = ['login_url', 'disable_usernames', 'sg2fa'];

export function inSafeOrder(ids: readonly StepId[]): readonly StepId[] {
  return [...ids.filter((id) => !LAST.includes(id)), ...LAST.filter((id) => ids.includes(id))];
}

/** The API call of a step. */
export function toApiCall(id: StepId, form: ApplyForm, attempts: number, homeUrl: string): ApiCall {
  switch (id) {
    case 'sg2fa':
      return toCall(twoFactor, { sg2fa: 1 });
    case 'disable_usernames': {
      const admin_names = Object.entries(form.names).map(([ID, name]) => ({
        ID: Number(ID),
        user_login: dropUnseen(name),
      }));
      return toCall(disableAdminUsername, { disable_usernames: 1, ...(admin_names.length > 0 ? { admin_names } : {}) });
    }
    case 'login_url': {
      const { login, signup } = form.url;
      return toCall(customLoginUrl, {
        type: 'custom',
        login: toLoginPath(login, homeUrl),
        signup: signup === null ? null : toLoginPath(signup, homeUrl),
      });
    }
    default:
      return {
        endpoint: toSettingEndpoint(stepRows.find(({ field }) => field === id) as SettingRow),
        request: { [id]: id === 'login_attempts' ? attempts : 1 },
      };
  }
}
