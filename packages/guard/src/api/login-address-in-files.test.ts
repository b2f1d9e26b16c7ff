import { describe, expect, it } from 'vitest';
import { type activitySite as ActivitySite, activitySite } from '../../test/support/activity-site.js';
import { eventually } from '../../test/support/scratch.js';

type Site = Awaited<ReturnType<typeof ActivitySite>>;

/** Present and former addresses of this site; each is visited in many spellings. */
const FIRST = { type: 'custom', login: 'my-door', signup: 'join-us' };
const SECOND = { type: 'custom', login: 'come/in', signup: 'new-here' };
const NAMES = /my-door|join-us|come.{0,5}in\b|new-here|%6dy|my%2d|MY-DOOR/i;

/** A site whose login was moved twice and has the address that WordPress uses now, with visits to every address. */
async function movedSite(home = ''): Promise<Site> {
  const site = await activitySite();
  site.connector.registration = true;
  site.connector.home = `https://example.com${home}`;
  await site.restart();
  for (const address of [FIRST, SECOND]) {
    expect((await site.send('/custom-login-url', address)).http).toBe(200);
    for (const path of ['/my-door', '/my-door/', '/index.php/my-door/', '/MY-DOOR', '/%6dy-door', '/my%2ddoor?a=1']) {
      await site.visit(home + path);
      await site.visit(home + path);
    }
    for (const path of ['/come/in', '/come//in/', '/new-here', '/join-us', '/join-us/?x=y']) {
      await site.visit(home + path);
      await site.visit(home + path);
    }
  }
  await site.visit(`${home}/?redirect_to=https%3A%2F%2Fexample.com%2Fmy-door%2F`);
  await site.visit(`${home}/public-page`);
  expect((await site.send('/custom-login-url', { type: 'default', login: '', signup: '' })).http).toBe(200);
  await eventually(async () => {
    const { entries } = await site.unknown();
    return entries.some(({ page_visited }) => page_visited === `${home}/public-page`);
  });
  return site;
}

const fetchText = async (site: Site, suffix: string): Promise<string> => {
  // Guard was restarted, so its URL is another one.
  const [, url] = [...site.log.text().matchAll(/"url":"([^"]+)"/g)].at(-1) ?? [];
  const response = await fetch(`${url}/wp-json/security-optimizer/v1${suffix}`, {
    headers: { cookie: 'session=owner', 'x-wp-nonce': 'owner-nonce' },
  });
  expect(response.status).toBe(200);
  return response.text();
};

describe.each(['', '/blog'])('present and former login and sign-up addresses (home %j)', (home) => {
  it('are in no weekly report, in HTML or text; other pages are', async () => {
    const site = await movedSite(home);
    const mail = await site.call<{ subject: string; html: string; text: string }>('/weekly-report-preview');
    for (const part of [mail.subject, mail.html, mail.text]) {
      expect(part.replaceAll('\u200b', '')).not.toMatch(NAMES);
    }
    expect(mail.text.replaceAll('\u200b', '')).toContain(`${home}/public-page: 1 visit`);
  });

  it.each(['csv', 'json'])('are in no export as %s; their visits and changes are', async (format) => {
    const site = await movedSite(home);
    const visits = await fetchText(site, `/activity-export?list=unknown&format=${format}`);
    expect(visits).not.toMatch(NAMES);
    expect(visits).toContain(`${home}/public-page`);
    expect(visits).toContain('(login address)');
    await eventually(async () => (await site.registered()).entries.length >= 3);
    const changes = await fetchText(site, `/activity-export?list=registered&format=${format}`);
    expect(changes).not.toMatch(NAMES);
    expect(changes).toContain('to (login address) (before: Default)');
  });
});

it('the owner’s own list in wp-admin contains the visited paths, and no choice of a filter contains an address', async () => {
  const site = await movedSite();
  const list = await site.unknown();
  expect(JSON.stringify(list.entries)).toMatch(/my-door/);
  expect(JSON.stringify(list.filters)).not.toMatch(NAMES);
  expect(JSON.stringify((await site.registered()).filters)).not.toMatch(NAMES);
  expect(JSON.stringify(await site.call('/activity-traffic', {}))).not.toMatch(NAMES);
});
