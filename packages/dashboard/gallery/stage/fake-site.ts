import { pages } from '@security-optimizer/contract/pages';
import type { Fetch } from '../../src/api/client.js';
import { LOG_NOW } from '../../test/fake-site/activity-log.js';
import { handleSiteRequest, type SiteState } from '../../test/fake-site/responses.js';

const icons = import.meta.glob<string>('../../src/ui/icons/*.svg', {
  query: '?raw',
  import: 'default',
  eager: true,
});
const ICON = /\/icons\/([a-z0-9-]+)\.svg$/;

/** Address of the sample site. */
export const SITE = 'http://example.com';

/** A `fetch` with responses of the sample site. */
export function fakeFetch(site: SiteState): Fetch {
  return async (input, init) => {
    const { pathname, search } = new URL(String(input), SITE);
    const icon = ICON.exec(pathname)?.[1];
    if (icon !== undefined) {
      const text = icons[`../../src/ui/icons/${icon}.svg`];
      return new Response(text ?? '', { status: text === undefined ? 404 : 200 });
    }
    const reply = await handleSiteRequest(site, {
      method: init?.method ?? 'GET',
      url: pathname + search,
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: typeof init?.body === 'string' ? init.body : '',
    });
    if (reply === null) throw new TypeError('The connection was dropped.');
    const body = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body);
    return new Response(body, { status: reply.status ?? 200 });
  };
}

/** For `replies`: a response that never arrives. */
export const held = (): Promise<never> => new Promise(() => undefined);

/** Sets the clock of the document to the time of the sample data, 21 November 2026, 14:32 UTC. Timers still run. */
export function fixTime(): void {
  const now = LOG_NOW * 1000;
  const Real = Date;
  globalThis.Date = new Proxy(Real, {
    construct: (target, parts: []) => (parts.length === 0 ? new target(now) : new target(...parts)),
    get: (target, name) => (name === 'now' ? () => now : Reflect.get(target, name)),
  });
}

export const menuPages = pages.map(({ slug }) => ({ slug, url: `${SITE}/wp-admin/admin.php?page=${slug}` }));
