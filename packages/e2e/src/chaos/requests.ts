import type { Step, Visit } from './client.js';

/** One kind of visit: its name, and what is done on the connection, step after step. */
export type Kind = readonly [name: string, ...steps: Step[]];

/** The target of a request, which tells the web server behind what to do with it. */
const at = (path: string) => (visit: Visit) =>
  `${path}${path.includes('?') ? '&' : '?'}up=${visit.behaviour.replaceAll(' ', '+')}&kind=${visit.kind.replaceAll(/[^\w]+/g, '-')}`;

interface Spelled {
  readonly method?: string;
  readonly path?: string;
  /** Header lines, each with its line end. */
  readonly headers?: string;
  readonly body?: string;
  readonly version?: string;
}

/** A whole request. */
export const request =
  ({ method = 'GET', path = '/', headers = '', body, version = '1.1' }: Spelled = {}) =>
  (visit: Visit): string => {
    const length = body === undefined ? '' : `Content-Length: ${body.length}\r\n`;
    const line = `${method} ${at(path)(visit)} HTTP/${version}\r\n`;
    return `${line}Host: ${visit.host}\r\n${visit.extra}${headers}${length}\r\n${body ?? ''}`;
  };

export const several = (count: number, one: (visit: Visit) => string) => (visit: Visit) => one(visit).repeat(count);
export const joined =
  (...parts: ((visit: Visit) => string)[]) =>
  (visit: Visit) =>
    parts.map((part) => part(visit)).join('');
export const verbatim = (bytes: string) => () => bytes;

export const post = (body: string, headers = '') => request({ method: 'POST', headers, body });
/** A POST with its header only. The kind sends the body. */
export const postHead = (headers: string) => request({ method: 'POST', path: '/form', headers });
/** The shortest whole request for a page. */
export const page = (visit: Visit): string => `GET / HTTP/1.1\r\nHost: ${visit.host}\r\n\r\n`;
