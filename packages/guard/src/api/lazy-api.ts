import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiRequest } from '../gateway/context.js';
import { ApiError } from '../lib/api-error.js';
import type { Logger } from '../lib/logger.js';
import type { Api } from './api-app.js';
import { toFailure } from './response.js';

/**
 * Returns an API that is created with its first request: a gateway that only refuses and forwards needs neither the
 * framework nor the use cases, and starts faster without them. Requests wait during the creation. When it fails, they
 * get an error, and the next request tries again.
 */
export function createLazyApi(create: () => Promise<Api>, logger: Pick<Logger, 'error'>): Api {
  let created: Api | null = null;
  let pending: Promise<Api> | null = null;
  let closed = false;

  async function createOnce(): Promise<Api> {
    pending ??= create();
    try {
      created = await pending;
      return created;
    } catch (error) {
      pending = null;
      throw error;
    }
  }

  async function handleLater(request: IncomingMessage, response: ServerResponse, call: ApiRequest): Promise<void> {
    try {
      const api = await createOnce();
      // A client that has disconnected gets no response, and its request has no effect.
      if (!response.destroyed) api.handle(request, response, call);
    } catch (cause) {
      logger.error(
        {
          event: 'api-init-failed',
          site: call.site.id,
          request: call.requestId,
          err: cause,
        },
        NOT_MADE,
      );
      refuse(request, response);
    }
  }

  return {
    handle(request, response, call) {
      if (created !== null) created.handle(request, response, call);
      else if (closed) refuse(request, response);
      else void handleLater(request, response, call);
    },
    async close() {
      closed = true;
      await pending?.then(
        (api) => api.close(),
        () => undefined,
      );
    },
  };
}

const NOT_MADE = 'The API can’t be made; the gateway itself goes on.';

function refuse(request: IncomingMessage, response: ServerResponse): void {
  const failure = toFailure(new ApiError('internal'));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    connection: 'close',
  };
  response.writeHead(failure.status, headers).end(JSON.stringify(failure));
  request.resume();
}
