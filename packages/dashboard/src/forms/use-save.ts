import { useState } from 'react';
import type { ApiFailure } from '../api/api-failure.js';
import { ignoreFailure, mayHaveBeenSaved } from '../options/use-changes.js';
import type { TrackedRequest } from '../requests/run-request.js';
import { useServices } from '../services.js';

/** What a dialog sends. */
export interface SaveRequest<Data> extends TrackedRequest<Data> {
  /** No clear answer came: it may have been saved all the same. */
  readonly onUnclear?: () => void;
}

export interface Save {
  readonly pending: boolean;
  /** Why the last try failed, until the next one. */
  readonly failure: ApiFailure | null;
  readonly save: <Data>(request: SaveRequest<Data>) => void;
}

/** Sends what a dialog holds, once at a time. On failure nothing that was typed is lost. */
export function useSave(): Save {
  const { run } = useServices();
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<ApiFailure | null>(null);

  return {
    pending,
    failure,
    save(request) {
      if (pending) return;
      setPending(true);
      setFailure(null);
      run({
        ...request,
        onFailure: (reason) => {
          setFailure(reason);
          request.onFailure?.(reason);
          if (mayHaveBeenSaved(reason)) request.onUnclear?.();
        },
        onComplete: () => {
          setPending(false);
          request.onComplete?.();
        },
      }).catch(ignoreFailure);
    },
  };
}
