import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '../lib/api-error.js';
import type { Logger } from '../lib/logger.js';
import type { Api } from './api-app.js';
import type { ApiCall } from './api-call.js';
import { failureOf } from './error-response.js';

/**
 * The API, made with its first call: a gate that only refuses and forwards needs neither its framework nor its use
 * cases, and is at work sooner without them. Calls that come meanwhile wait. When it can't be made, those calls are
 * answered with an error, and the next one tries again.
 */
export function lazyApi(make: () => Promise<Api>, logger: Pick<Logger, 'error'>): Api {
  let made: Api | null = null;
  let making: Promise<Api> | null = null;
  let closed = false;

  async function makeOnce(): Promise<Api> {
    making ??= make();
    try {
      made = await making;
      return made;
    } catch (error) {
      making = null;
      throw error;
    }
  }

  async function handleLater(request: IncomingMessage, response: ServerResponse, call: ApiCall): Promise<void> {
    try {
      const api = await makeOnce();
      // Who left while it was made gets no answer, and nothing is changed for them.
      if (!response.destroyed) api.handle(request, response, call);
    } catch (cause) {
      logger.error({ event: 'api-not-made', site: call.site.id, request: call.requestId, err: cause }, NOT_MADE);
      refuse(request, response);
    }
  }

  return {
    handle(request, response, call) {
      if (made !== null) made.handle(request, response, call);
      else if (closed) refuse(request, response);
      else void handleLater(request, response, call);
    },
    async close() {
      closed = true;
      await making?.then(
        (api) => api.close(),
        () => undefined,
      );
    },
  };
}

const NOT_MADE = 'The API can’t be made; the gate itself goes on.';

function refuse(request: IncomingMessage, response: ServerResponse): void {
  const failure = failureOf(new ApiError('internal'));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    connection: 'close',
  };
  response.writeHead(failure.status, headers).end(JSON.stringify(failure));
  request.resume();
}
