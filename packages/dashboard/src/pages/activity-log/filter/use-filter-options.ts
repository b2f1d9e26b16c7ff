import { useEffect, useState } from 'react';
import { isFields } from '../../../data/fields.js';
import type { ComboOption } from '../../../forms/combo-box.js';
import { ignoreFailure } from '../../../options/use-changes.js';
import { useServices } from '../../../services.js';

/** Pause in typing after which the server is asked, milliseconds. */
const SEARCH_PAUSE_MS = 250;

/**
 * The options of a filter that hold a text. The server knows more of them than it sent with the list, so it is asked;
 * until it answers, and when it does not, those that are known are searched.
 */
export function useFilterOptions(
  list: 'unknown' | 'registered',
  filter: string,
  known: readonly ComboOption[],
  text: string,
): readonly ComboOption[] {
  const { api } = useServices();
  const [found, setFound] = useState<{ readonly text: string; readonly options: readonly ComboOption[] } | null>(null);

  useEffect(() => {
    if (text === '') return;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      const body = { list, filter, search: text };
      const answer = await api
        .call<{ options?: unknown } | null>({ suffix: '/activity-options', body, signal: abort.signal })
        .catch(ignoreFailure);
      const options = answer?.data?.options;
      if (Array.isArray(options) && !abort.signal.aborted) setFound({ text, options: options.filter(isOption) });
    }, SEARCH_PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [api, list, filter, text]);

  if (text === '') return known;
  if (found?.text === text) return found.options;
  return known.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()));
}

function isOption(value: unknown): value is ComboOption {
  if (!isFields(value)) return false;
  const { value: id, label } = value;
  return (typeof id === 'string' || typeof id === 'number') && typeof label === 'string';
}
