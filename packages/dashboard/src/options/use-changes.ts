import { useRef, useState } from 'react';
import { ApiFailure } from '../api/api-failure.js';
import type { ApiCall } from '../api/send.js';
import { useServices } from '../services.js';
import type { OptionsSource } from './options-source.js';

/** How the last change of an option stands. Without an entry nothing is under way. */
export interface ChangeState<Options> {
  readonly state: 'saving' | 'failed';
  readonly wanted: Partial<Options>;
}
export type Changes<Options> = Readonly<Record<string, ChangeState<Options>>>;

export interface Change<Options> {
  /** Name under which the request is tracked; one change of a name runs at a time. */
  readonly name: string;
  readonly call: ApiCall;
  /** The options as they are once the change is made, unless the server says otherwise. */
  readonly wanted: Partial<Options>;
  /** Own success text; without it the server's message is all. */
  readonly successText?: (stored: Partial<Options>, message: string) => string;
  readonly onSuccess?: (data: unknown) => void;
}

/**
 * Changes options, several at a time if need be, each on its own. What the server answers is handed to `store`;
 * a failed change stores nothing, so the option is back at its true value. When no clear answer came the change
 * may have been made all the same: then the option is read again.
 */
export function useChanges<Options extends object>(
  source: OptionsSource<Options>,
  store: (change: Partial<Options>) => void,
): { readonly changes: Changes<Options>; readonly change: (change: Change<Options>) => void } {
  const { run, api, notices } = useServices();
  const [changes, setChanges] = useState<Changes<Options>>({});
  // Two clicks may come before React draws once; the second one must find the first.
  const underWay = useRef(new Set<string>());

  function mark(name: string, state: ChangeState<Options> | null): void {
    setChanges(({ [name]: _last, ...others }) => (state === null ? others : { ...others, [name]: state }));
  }

  async function readAgain({ name, wanted }: Change<Options>): Promise<void> {
    const answer = await api.call<unknown>(source.call).catch(ignoreFailure);
    if (answer === undefined || underWay.current.has(name)) return;
    const read = pick(source.read(answer.data), wanted);
    store(read);
    if (JSON.stringify(read) !== JSON.stringify(pick(wanted, wanted))) return;
    mark(name, null);
    notices.closeKey(name);
  }

  function change(item: Change<Options>): void {
    const { name, wanted } = item;
    if (underWay.current.has(name)) return;
    underWay.current.add(name);
    mark(name, { state: 'saving', wanted });
    const stored = (data: unknown): Partial<Options> => ({ ...wanted, ...source.read(data) });
    run<unknown>({
      name,
      call: item.call,
      successText: (data, message) => item.successText?.(stored(data), message) ?? '',
      onSuccess: (data) => {
        store(stored(data));
        mark(name, null);
        item.onSuccess?.(data);
      },
      onFailure: (failure) => {
        mark(name, { state: 'failed', wanted });
        if (mayHaveBeenSaved(failure)) void readAgain(item);
      },
      onComplete: () => underWay.current.delete(name),
    }).catch(ignoreFailure);
  }

  return { changes, change };
}

/** The options as they are shown: a change that is being saved counts with its new value. */
export function withPending<Options extends object>(stored: Options, changes: Changes<Options>): Options {
  const pending = Object.values(changes).filter(({ state }) => state === 'saving');
  return Object.assign({}, stored, ...pending.map(({ wanted }) => wanted)) as Options;
}

/** The fields of `options` that `like` has, in the order of `like`. */
function pick<Options extends object>(options: Partial<Options>, like: Partial<Options>): Partial<Options> {
  const names = (Object.keys(like) as (keyof Options)[]).filter((name) => options[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, options[name]])) as Partial<Options>;
}

/** Guard refuses a change as a whole with a JSON answer; anything else leaves open what became of it. */
export function mayHaveBeenSaved(failure: ApiFailure): boolean {
  return failure.kind === 'no_response' || failure.kind === 'not_json';
}

/** A failure has already been told by the request's notice; any other error is a fault in the program. */
export function ignoreFailure(error: unknown): undefined {
  if (!(error instanceof ApiFailure)) throw error;
}
