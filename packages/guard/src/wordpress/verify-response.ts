import type { SiteConfig } from '../site.js';
import { type CommandResponse, unreachable } from './command-queue.js';
import { ConnectorError } from './connector-error.js';
import { keyId, readSignal, type Signal } from './signature.js';
import { describeRedirect, leadsToSetUp, type Sender } from './site-origin.js';

/**
 * Checks that the connector has signed the response to a command. Otherwise the error describes what responded in its
 * place.
 *
 * @param requested how the command was sent; `firstHost`: the host that was requested before any redirect; `isKnown`:
 *   whether WordPress has reported its own name
 * @returns the connector's signal
 * @throws ConnectorError when the response is not signed by the connector
 */
export function verifyResponse(
  site: SiteConfig,
  response: CommandResponse,
  requested: Sender & { readonly firstHost: string; readonly isKnown: boolean },
): Signal {
  const { status, signal: value, location } = response;
  const signal = readSignal(site.secret, value, requested.requestId);
  switch (signal.kind) {
    case 'ok':
      return signal;
    case 'other_secret':
      throw new ConnectorError({ kind: 'other_secret', keyId: signal.keyId });
    case 'missing': {
      const redirect = describeRedirect(response, requested, requested.firstHost);
      if (redirect !== null) {
        const cause = `the web server redirects to ${redirect.target}`;
        throw new ConnectorError({ kind: 'unreachable', cause, redirect });
      }
      if (isFromWebServer(response)) {
        throw new ConnectorError({ kind: 'unreachable', cause: `it answered with HTTP status ${status}`, status });
      }
      if (leadsToSetUp(location)) throw new ConnectorError({ kind: 'missing', notSetUp: true });
      throw new ConnectorError({ kind: 'missing', ...(!requested.isKnown && { host: requested.host }) });
    }
    case 'kept':
    case 'invalid':
      throw unreachable(
        value === `1 ${keyId(site.secret)}`
          ? 'the connector did not accept the signature; compare the clocks of both machines'
          : 'its answer is not signed for this request',
      );
  }
}

/** Statuses with which web servers and firewalls refuse a request before PHP. */
const WEB_SERVER_REFUSALS: ReadonlySet<number> = new Set([403, 408, 413, 429, 431]);

/**
 * Whether the web server may have responded by itself, because PHP is down, too many requests arrived, or the site is
 * closed. In these cases the connector may be installed. WordPress refuses commands of an absent connector in JSON, as
 * any REST request.
 */
function isFromWebServer({ status, text }: CommandResponse): boolean {
  return status >= 500 || (WEB_SERVER_REFUSALS.has(status) && (status === 429 || !text.trimStart().startsWith('{')));
}
