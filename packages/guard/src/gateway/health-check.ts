import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SiteRouter } from './site-router.js';

/**
 * Responds to a request that names no host, as health checks of load balancers do (`OPTIONS / HTTP/1.0` every two
 * seconds): whether guard serves. Whatever the path, the request belongs to no site (RFC 9112 section 3.3), so it starts
 * no PHP and reveals nothing of a site. It is neither recorded as a visit nor counted as refused, since a check each
 * second would fill every log.
 */
export function respondToHealthCheck(
  router: Pick<SiteRouter, 'servesNone'>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const [status, body] = router.servesNone ? ([503, 'no site can be served\n'] as const) : ([200, 'ok\n'] as const);
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': body.length,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
