import type { RunRequest } from '../requests/run-request.js';
import { FETCH_OPTIONS, type OptionsSource } from './options-source.js';
import { readFilled } from './read-filled.js';

/** How the options of the page that is open are asked for: once, and again only when the owner says so. */
export function optionsQuery<Options extends object>(source: OptionsSource<Options>, run: RunRequest) {
  return {
    queryKey: source.key,
    queryFn: async (): Promise<Options> =>
      readFilled(source, await run<unknown>({ name: FETCH_OPTIONS, call: source.call })),
    staleTime: Number.POSITIVE_INFINITY,
    // The answer may come before the page is drawn, and the owner has been told of a failure then.
    retryOnMount: false,
  };
}
