import type { SecurityField, SiteSecurityToggle } from '@security-optimizer/contract/protections';
import { useRef, useState } from 'react';
import { ApiFailure } from '../../api/api-failure.js';
import { translate } from '../../i18n/translate.js';
import { useServices } from '../../services.js';
import { type KnownOptions, readSecurityOptions } from './read-security-options.js';
import { fetchOptionsCall } from './use-security-options.js';

export type Toggle = SiteSecurityToggle & { readonly field: SecurityField };

/** How the last change of an option stands. Without an entry nothing is under way. */
export type ChangeState = { readonly state: 'saving' | 'failed'; readonly wanted: 0 | 1 };
export type Changes = Readonly<Partial<Record<SecurityField, ChangeState>>>;

/** Name under which the change of an option is tracked; the same as in the contract's table of endpoints. */
export function toggleRequestName(field: SecurityField): string {
  return `update:${field}`;
}

/**
 * Changes options, several at a time if need be, each on its own. What the server answers is handed to `store`;
 * a failed change stores nothing, so the option is back at its true value. When no clear answer came the change
 * may have been made all the same: then the option is read again.
 */
export function useToggles(store: (change: KnownOptions) => void): {
  readonly changes: Changes;
  readonly change: (toggle: Toggle, wanted: 0 | 1) => void;
} {
  const { run, api, notices } = useServices();
  const [changes, setChanges] = useState<Changes>({});
  // Two clicks may come before React draws once; the second one must find the first.
  const underWay = useRef(new Set<SecurityField>());

  function mark(field: SecurityField, state: ChangeState | null): void {
    setChanges(({ [field]: _last, ...others }) => (state === null ? others : { ...others, [field]: state }));
  }

  async function readAgain(field: SecurityField, wanted: 0 | 1): Promise<void> {
    const answer = await api.call<unknown>(fetchOptionsCall).catch(ignoreFailure);
    const value = readSecurityOptions(answer?.data)[field];
    if (value === undefined || underWay.current.has(field)) return;
    store({ [field]: value });
    if (value !== wanted) return;
    mark(field, null);
    notices.closeKey(toggleRequestName(field));
  }

  function change(toggle: Toggle, wanted: 0 | 1): void {
    const { field } = toggle;
    if (underWay.current.has(field)) return;
    underWay.current.add(field);
    mark(field, { state: 'saving', wanted });
    const stored = (data: unknown): 0 | 1 => readSecurityOptions(data)[field] ?? wanted;
    run<unknown>({
      name: toggleRequestName(field),
      call: { suffix: toggle.suffix, body: { [field]: wanted } },
      successText: (data, message) => {
        const usual = stored(data) === 1 ? toggle.messages.on : toggle.messages.off;
        // When the server has something else to say, such as what it could not do, the usual text would contradict it.
        return message === '' || message === usual ? translate(usual) : '';
      },
      onSuccess: (data) => {
        store({ [field]: stored(data) });
        mark(field, null);
      },
      onFailure: (failure) => {
        mark(field, { state: 'failed', wanted });
        if (mayHaveBeenSaved(failure)) void readAgain(field, wanted);
      },
      onComplete: () => underWay.current.delete(field),
    }).catch(ignoreFailure);
  }

  return { changes, change };
}

/** Guard refuses a change as a whole with a JSON answer; anything else leaves open what became of it. */
function mayHaveBeenSaved(failure: ApiFailure): boolean {
  return failure.kind === 'no_response' || failure.kind === 'not_json';
}

/** A failure has already been told by the request's notice; any other error is a fault in the program. */
function ignoreFailure(error: unknown): undefined {
  if (!(error instanceof ApiFailure)) throw error;
}
