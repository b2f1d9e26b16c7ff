import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restBasic, usersBlogs } from '../../attacks/requests.js';
import { ask, form, type TypedRequest } from '../../http/request.js';
import { authorised, callApi, logIn, readOptions, type Session, setOptions } from '../../http/session.js';
import { onUsualStack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { askFrom, change, createsSession, loginForm, recover } from './visitors.js';

const HOUR = 3600_000;
const DAY = 24 * HOUR;
const FROM = '127.0.38.1';
/** The site keeps UTC. */
const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const timeOf = (ms: number) => new Date(ms).toISOString().slice(11, 16);
const DAY_FORM = { weekday: 'long', month: 'long', day: 'numeric' } as const;
const TIME_FORM = { hour: 'numeric', minute: '2-digit' } as const;
/** As the site's language writes it, American English, but with plain blanks. */
const inEnglish = (ms: number, form: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-US', { ...form, timeZone: 'UTC' }).format(ms).replace(/\s+/g, ' ');
const weekdayOf = (ms: number) =>
  new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' }).format(ms).toLowerCase();

/** Schedules that are on now and will be on in an hour, whatever the time of day, each with the moment it ends. */
function schedules() {
  const now = Date.now();
  const midnight = (Math.floor(now / DAY) + 1) * DAY;
  const quarter = Math.floor(now / (HOUR / 4)) * (HOUR / 4);
  const [from_hour, to_hour] = [timeOf(quarter - HOUR), timeOf(quarter + 2 * HOUR)];
  return {
    period: {
      schedule: { type: 'period', from_date: dateOf(now), to_date: dateOf(now + DAY) },
      ends: midnight + DAY,
    },
    weekly: {
      schedule: { type: 'weekly', weekly: [weekdayOf(now), weekdayOf(now + DAY)] },
      ends: midnight + DAY,
    },
    daily: { schedule: { type: 'daily', from_hour, to_hour }, ends: quarter + 2 * HOUR },
  };
}

onUsualStack('while the owner is away', (stack) => {
  let owner: Session;
  let xmlRpcBefore: 0 | 1;
  const login = { target: '/wp-login.php', headers: { accept: 'text/html' } };
  const end = async () => {
    await recover(stack, 'away-mode', 'off');
    await until('the login is open', async () => (await askFrom(stack, FROM, login)).status === 200);
  };

  beforeAll(async () => {
    owner = await logIn(stack);
    xmlRpcBefore = (await readOptions(stack, owner)).disable_xml_rpc;
    await setOptions(stack, owner, { disable_xml_rpc: 0 });
  });
  afterAll(() => setOptions(stack, owner, { disable_xml_rpc: xmlRpcBefore }));

  const begin = (schedule: object) => change(stack, owner, '/away-mode', { ...schedule, confirm: true });
  /** The login says until when it is closed, and nobody gets in. */
  const expectClosed = async (ends: number) => {
    const page = await askFrom(stack, FROM, login);
    expect(page.status).toBe(403);
    expect(page.body).toContain('The admin area is closed');
    expect(page.body.replace(/\s+/g, ' ')).toContain(`${inEnglish(ends, DAY_FORM)}, ${inEnglish(ends, TIME_FORM)}`);
    const left = Number(page.headers['retry-after']) * 1000;
    expect(Math.abs(Date.now() + left - ends)).toBeLessThan(10_000);
    const attempt = await askFrom(stack, FROM, loginForm(stack.user, stack.password));
    expect([attempt.status, createsSession(attempt)]).toEqual([403, false]);
  };
  const { period, weekly, daily } = schedules();

  it('for some days of the week, the login is closed until midnight', async () => {
    await begin(weekly.schedule);
    await expectClosed(weekly.ends).finally(end);
  });

  it('for some hours of the day, the login is closed until they are over', async () => {
    await begin(daily.schedule);
    await expectClosed(daily.ends).finally(end);
  });

  describe('for a period', () => {
    beforeAll(() => begin(period.schedule));
    afterAll(end);

    it('the login is closed until its last day is over', () => expectClosed(period.ends));

    it('who is still signed in changes nothing, on any route', async () => {
      const { cookie, nonce } = owner;
      const signedIn = { cookie, 'x-wp-nonce': nonce, 'content-type': 'application/json' };
      const closed: [string, TypedRequest][] = [
        ['wp-admin', { target: '/wp-admin/', headers: { cookie } }],
        ['a page of wp-admin', { target: '/wp-admin/plugins.php', headers: { cookie } }],
        ['AJAX', { target: '/wp-admin/admin-ajax.php?action=rest-nonce', headers: { cookie } }],
        ['admin-post', form('/wp-admin/admin-post.php', 'a=b', { cookie })],
        ['REST', { method: 'POST', target: '/wp-json/wp/v2/posts', body: '{"title":"x"}', headers: signedIn }],
        ['a REST route in a form', form('/', `rest_route=/wp/v2/posts&title=x&_wpnonce=${nonce}`, { cookie })],
        ['and on any page', form('/nothing/', 'rest_route=/wp/v2/settings&title=x', { cookie, 'x-wp-nonce': nonce })],
        ['a method in disguise', { target: '/wp-json/wp/v2/posts/1?_method=DELETE', headers: signedIn }],
        ['XML-RPC', usersBlogs(stack.user, stack.password)],
        ['REST by password', restBasic(stack.user, stack.password)],
      ];
      for (const [route, request] of closed) expect((await ask(stack, request)).status, route).toBe(403);
    });

    it('the owner can’t switch it off either, and is told so in JSON', async () => {
      const answer = await callApi(stack, {
        path: '/wp-json/security-optimizer/v1/away-mode',
        body: '{"type":"off"}',
        headers: authorised(owner),
      });
      expect([answer.http, answer.body.code]).toEqual([403, 'away_mode']);
      expect((await askFrom(stack, FROM, login)).status).toBe(403);
    });

    it('the public site is as always', async () => {
      for (const headers of [{}, { cookie: owner.cookie }]) {
        expect((await ask(stack, { target: '/', headers })).status).toBe(200);
        expect((await ask(stack, { target: '/wp-json/wp/v2/posts', headers })).status).toBe(200);
      }
      expect((await ask(stack, { target: '/wp-admin/admin-ajax.php?action=nothing' })).status).toBe(400);
      const comment = form('/wp-comments-post.php', 'comment=&comment_post_ID=1&author=a&email=a%40example.com');
      expect((await ask(stack, comment)).body).toMatch(/type your comment text/i);
    });
  });

  it('is over when the command line says so, and the session of before works on', async () => {
    const admin = { target: '/wp-admin/', headers: { cookie: owner.cookie } };
    expect((await ask(stack, admin)).status).toBe(200);
    expect(createsSession(await askFrom(stack, FROM, loginForm(stack.user, stack.password)))).toBe(true);
  });
});
