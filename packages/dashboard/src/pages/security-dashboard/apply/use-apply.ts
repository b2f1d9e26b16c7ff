import { useState } from 'react';
import { ApiFailure } from '../../../api/api-failure.js';
import type { ApiCall } from '../../../api/send.js';
import { loginOptions, type OptionsSource, securityOptions } from '../../../options/options-source.js';
import { ignoreFailure } from '../../../options/use-changes.js';
import { openSteps, type StepId } from '../../../protection/steps.js';
import { failureReason } from '../../../requests/outcome-notice.js';
import { useServices } from '../../../services.js';
import type { HeroProps } from '../hero/hero.js';

/** How a change stands. `text` is what the server said, or why it failed. */
export interface StepResult {
  readonly state: 'waiting' | 'running' | 'done' | 'failed';
  readonly text: string;
  /** Messages about fields. */
  readonly fields: Readonly<Record<string, string>>;
}

export interface Apply {
  readonly results: Readonly<Partial<Record<StepId, StepResult>>>;
  readonly running: boolean;
  /** Where the owner sets up the own second factor, once it was switched on here. */
  readonly setUpUrl: string | null;
  /** Makes the changes one after another. Resolves with the messages about fields when all have ended. */
  readonly start: (calls: readonly (readonly [StepId, ApiCall])[]) => Promise<Readonly<Record<string, string>>>;
}

/**
 * Makes several changes, one after another; one that fails does not hold up the others. Without a session nothing
 * more is tried. Afterwards the settings are read again: a change whose answer was lost may have been made.
 */
export function useApply({ security, login }: Pick<HeroProps, 'security' | 'login'>): Apply {
  const { runQuietly, api } = useServices();
  const [results, setResults] = useState<Apply['results']>({});
  const [running, setRunning] = useState(false);
  const [setUpUrl, setSetUpUrl] = useState<string | null>(null);

  function mark(id: StepId, state: StepResult['state'], text = '', fields: StepResult['fields'] = {}): void {
    setResults((all) => ({ ...all, [id]: { state, text, fields } }));
  }

  async function make(id: StepId, call: ApiCall): Promise<ApiFailure | null> {
    mark(id, 'running');
    let said = '';
    try {
      const data = await runQuietly<unknown>({
        name: `update:${id}`,
        call,
        successText: (_data, message) => {
          said = message;
          return '';
        },
      });
      if (id === 'sg2fa') setSetUpUrl(loginOptions.read(data).two_factor_setup_url ?? null);
      mark(id, 'done', said);
      return null;
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      mark(id, 'failed', failureReason(error), error.fields);
      return error;
    }
  }

  async function read<Options extends object>(source: OptionsSource<Options>): Promise<Options | null> {
    const answer = await api.call<unknown>(source.call).catch(ignoreFailure);
    const options = answer === undefined ? null : source.read(answer.data);
    return options !== null && Object.keys(options).length > 0 ? options : null;
  }

  async function start(calls: readonly (readonly [StepId, ApiCall])[]): Promise<Readonly<Record<string, string>>> {
    setRunning(true);
    for (const [id] of calls) mark(id, 'waiting');
    const failures = new Map<StepId, ApiFailure>();
    let gone: ApiFailure | null = null;
    for (const [id, call] of calls) {
      if (gone !== null) {
        mark(id, 'failed', failureReason(gone));
        continue;
      }
      const failure = await make(id, call);
      if (failure === null) continue;
      failures.set(id, failure);
      if (failure.kind === 'session_gone') gone = failure;
    }
    if (gone === null) {
      const [nowSecurity, nowLogin] = await Promise.all([read(securityOptions), read(loginOptions)]);
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
