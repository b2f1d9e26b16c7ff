import { createContext, useContext } from 'react';
import type { ApiCall } from '../api/client.js';
import type { ApiError } from '../api/envelope.js';
import type { Toast } from '../ui/toast-store.js';

/** A request whose start and end are tracked (specification section 4). */
export interface TrackedRequest<Data> {
  readonly call: ApiCall;
  /** Name of the request. Default: the one of the endpoint. */
  readonly name?: string;
  /** Success text; may depend on the response's data and message. */
  readonly successText?: string | ((data: Data, message: string) => string);
  /** The toast of success. Default: one with `successText` and the server's message. */
  readonly successToast?: (data: Data, message: string) => Toast;
  /** Error text; takes precedence over all texts of the server. */
  readonly errorText?: string;
  readonly onSuccess?: (data: Data) => void;
  readonly onFailure?: (failure: ApiError) => void;
  /** Called last, after success and failure. */
  readonly onComplete?: () => void;
}

/** Rejects with an `ApiError`. A cancelled request shows no toast and only calls `onComplete`. */
export type RunRequest = <Data>(request: TrackedRequest<Data>) => Promise<Data>;

export interface RequestRunners {
  /** Runs a request and shows its toasts. Most requests use it. */
  readonly run: RunRequest;
  /** Runs a request without toasts. */
  readonly runQuietly: RunRequest;
}

export const RequestRunnersContext = createContext<RequestRunners | null>(null);

export function useRequestRunners(): RequestRunners {
  const runners = useContext(RequestRunnersContext);
  if (runners === null) throw new Error('useRequestRunners needs a RequestRunnersContext above it.');
  return runners;
}
