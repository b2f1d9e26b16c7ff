import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import type { ApiCall, Tracking } from '../api/client.js';
import { type ApiError, ignoreApiError, isOutcomeUnknown } from '../api/envelope.js';
import { useSite } from '../api/site-context.js';

/** A request to send. Its callbacks also run if the component is gone by then. */
export interface SubmitRequest<Data> extends Tracking<Data> {
  readonly call: ApiCall;
  /** May return a promise; the submission is pending until it is fulfilled. */
  readonly onSuccess?: (data: Data) => unknown;
  readonly onFailure?: (failure: ApiError) => void;
  /** The outcome is unknown: the change may have been saved. */
  readonly onUnclear?: () => void;
}

export interface Submission {
  readonly pending: boolean;
  /** Error of the last attempt, until the next one. */
  readonly failure: ApiError | null;
  /** Name of the last request; the one of its endpoint unless it has its own. */
  readonly name: string | undefined;
  /** Sends a request, unless one is running. */
  readonly save: <Data>(request: SubmitRequest<Data>) => void;
}

/** Sends the requests of a form or a button, one at a time. The form keeps its values on failure. */
export function useSubmit(): Submission {
  const { api } = useSite();
  // There may be two clicks before React renders; the second one must see the first.
  const running = useRef(false);
  const { isPending, error, variables, mutateAsync } = useMutation({
    mutationFn: (request: SubmitRequest<unknown>) => api.call<unknown>(request.call, request),
    onSuccess: ({ data }, request) => request.onSuccess?.(data),
    onError: (failure, request) => {
      request.onFailure?.(failure);
      if (isOutcomeUnknown(failure)) request.onUnclear?.();
    },
    onSettled: () => {
      running.current = false;
    },
  });

  return {
    pending: isPending,
    failure: error,
    name: variables?.name ?? variables?.call.endpoint.name,
    save<Data>(request: SubmitRequest<Data>) {
      if (running.current) return;
      running.current = true;
      mutateAsync(request as SubmitRequest<unknown>).catch(ignoreApiError);
    },
  };
}
