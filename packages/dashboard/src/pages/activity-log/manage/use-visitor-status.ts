import { useCallback, useEffect, useState } from 'react';
import type { ApiFailure } from '../../../api/api-failure.js';
import { ignoreFailure } from '../../../options/use-changes.js';
import { useServices } from '../../../services.js';
import { readStatus, type VisitorStatus } from './read-status.js';

/** The status of a visitor, read anew each time that its dialog opens. */
export function useVisitorStatus(id: number): {
  readonly status: VisitorStatus | null;
  readonly failure: ApiFailure | null;
  readonly retry: () => void;
} {
  const { run } = useServices();
  const [state, setState] = useState<{ status: VisitorStatus | null; failure: ApiFailure | null }>({
    status: null,
    failure: null,
  });
  const [round, setRound] = useState(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each round reads it again
  useEffect(() => {
    const abort = new AbortController();
    setState({ status: null, failure: null });
    run<unknown>({
      name: 'visitorStatus',
      call: { suffix: `/get-visitor-status/${id}`, method: 'GET', signal: abort.signal },
      onSuccess: (data) => setState({ status: readStatus(data), failure: null }),
      onFailure: (failure) => setState({ status: null, failure }),
    }).catch(ignoreFailure);
    return () => abort.abort();
  }, [run, id, round]);

  return { ...state, retry: useCallback(() => setRound((before) => before + 1), []) };
}
