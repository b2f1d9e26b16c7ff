import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Pass } from './examine.js';
import type { GateDeps } from './gate-deps.js';
import { noteVisit } from './note-visit.js';
import { prepareAnswer } from './prepare-answer.js';
import type { OwnRoute } from './request-facts.js';

/**
 * Answers a call below one of guard's own namespaces. That of the connector is for guard alone: to everybody else it is
 * a route that does not exist.
 */
export function answerOwnCall(
  deps: GateDeps,
  pass: Pass,
  { namespace, route }: OwnRoute,
  request: IncomingMessage,
  response: ServerResponse,
  { requestId, time }: { readonly requestId: string; readonly time: number },
): void {
  // The API rewrites the target of the request it is given.
  const asked = { url: request.url, headers: request.headers };
  const note = (status: number): void => noteVisit(deps, pass, asked, status, null);
  if (namespace === 'connector') {
    note(404);
    noRoute(deps, pass, response);
    return;
  }
  const { config } = pass.site;
  const { cookie } = request.headers;
  let member = false;
  const isMember = deps.members.knows(config.id, cookie, time);
  prepareAnswer(deps, pass, response, (status) => {
    // A member's nonce may have grown old; a member may have left before WordPress was asked.
    if (!member && !deps.members.knows(config.id, cookie, time)) note(status);
  });
  deps.api(request, response, {
    site: config,
    namespace,
    route,
    query: withoutRestRoute(pass.query),
    address: pass.address.text,
    scheme: pass.scheme,
    host: pass.host,
    requestId,
    isMember,
    onMember() {
      member = true;
      deps.members.saw(config.id, cookie, time);
    },
  });
}

/** The words of WordPress itself for a route that does not exist. */
const NO_ROUTE = JSON.stringify({
  code: 'rest_no_route',
  message: 'No route was found matching the URL and request method.',
  data: { status: 404 },
});

function noRoute({ onFault }: GateDeps, { policy, facts }: Pass, response: ServerResponse): void {
  const headers = [
    ...['Content-Type', 'application/json; charset=UTF-8'],
    ...['Content-Length', String(NO_ROUTE.length)],
    ...['Cache-Control', 'no-store'],
  ];
  policy.editHeaders(facts, headers, onFault);
  response.writeHead(404, headers);
  response.end(NO_ROUTE);
}

function withoutRestRoute(query: string): string {
  if (!query.includes('rest')) return query;
  const kept = [...new URLSearchParams(query)].filter(([name]) => name !== 'rest_route');
  return new URLSearchParams(kept).toString();
}
