import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SiteConfig } from '../site.js';

/** One call to the REST API, as the proxy recognised it: by pretty path or by `rest_route`, the same for both. */
export interface ApiCall {
  readonly site: SiteConfig;
  /** Which of the two bases was asked: the plugin's own API or the provider's shared settings API. */
  readonly namespace: 'plugin' | 'provider';
  /** Path below the namespace with a leading slash, as the client sent it, for example `/fetch-options`. */
  readonly route: string;
  /** Query string without the question mark and without `rest_route`; empty when there is none. */
  readonly query: string;
  /** Address of the visitor in canonical text. */
  readonly address: string;
  readonly scheme: 'http' | 'https';
  /** Host as the visitor asked for it, with port if there was one. */
  readonly host: string;
  /** 16 hexadecimal digits; the same id is in the log and in the header to WordPress. */
  readonly requestId: string;
  /** WordPress has said lately that a member has this browser. */
  readonly isMember: boolean;
  /** Told as soon as WordPress says that a member calls, whatever becomes of the call. */
  onMember(): void;
}

/** Answers a call of the API. Owns the response from then on: it always answers and never throws. */
export type ApiHandler = (request: IncomingMessage, response: ServerResponse, call: ApiCall) => void;
