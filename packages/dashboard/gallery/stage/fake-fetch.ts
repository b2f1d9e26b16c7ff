import type { Fetch } from '../../src/api/send.js';
import { answerSite, type SiteState } from '../../test/site-answers.js';

const icons = import.meta.glob<string>('../../src/icons/svg/*.svg', { query: '?raw', import: 'default', eager: true });
const ICON = /\/icons\/([a-z0-9-]+)\.svg$/;

/** The site's address in all samples. */
export const SITE = 'http://example.com';

/** Answers what the dashboard asks, from the sample site, without a network. */
export function fakeFetch(site: SiteState): Fetch {
  return async (input, init) => {
    const { pathname, search } = new URL(String(input), SITE);
    const icon = ICON.exec(pathname)?.[1];
    if (icon !== undefined) {
      const text = icons[`../../src/icons/svg/${icon}.svg`];
      return new Response(text ?? '', { status: text === undefined ? 404 : 200 });
    }
    const reply = await answerSite(site, {
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

/** For `replies`: an answer that never comes. */
export const held = (): Promise<never> => new Promise(() => undefined);
