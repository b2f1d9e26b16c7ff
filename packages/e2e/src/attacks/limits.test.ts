import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { answered, limited, refused, silentAbout } from './attack.js';
import { attackTable, runAttacks, summarise } from './run.js';
import { AttackedSite } from './site.js';

interface FakeResponse {
  readonly status: number;
  readonly body?: string;
}

const FORM: FakeResponse = { status: 200, body: '<form id="loginform"></form>' };
const MISSING: FakeResponse = { status: 404, body: 'Nothing here.' };
const WAIT: FakeResponse = { status: 429, body: 'Too many failed logins.' };

const closings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

/** A web server that sends the responses of `answer`, and the options to attack it. */
async function serve(respond: (path: string, address: string) => FakeResponse) {
  const server = createServer((request: IncomingMessage, response) => {
    const path = (request.url ?? '').replace(/[?#].*/, '');
    const { status, body = 'A page.' } = respond(path, request.socket.remoteAddress ?? '');
    response.writeHead(status, { 'content-type': 'text/html' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closings.push(() => new Promise((resolve) => server.close(() => resolve())));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, manyAddresses: false };
}

const everyLogin = ['/wp-login.php', '/quiet-door'];

describe('a site whose login page asks this address to wait (429)', () => {
  const closed = () => serve((path) => (everyLogin.includes(path) ? WAIT : { status: path === '/' ? 200 : 404 }));

  it('does not count as a site with a hidden login', async () => {
    const site = await AttackedSite.meet(await closed());
    expect(site.lacks(['hidden login'])).toMatch(/^limited, not judged: .*429/);
    expect(site.lacks(['login address'])).toMatch(/^limited, not judged: .*429/);
  });

  it('fails no attack on a hidden login, and the table reports them as not judged', async () => {
    const results = await runAttacks(await AttackedSite.meet(await closed()), { groups: ['hidden login'] });
    expect(summarise(results)).toEqual({ passed: 0, failed: 0, notRun: results.length });
    expect(attackTable(results, false)).toMatch(/ not run: limited, not judged: .*429/);
  });

  it('receives requests from another address when this machine has several', async () => {
    const options = await serve((path, address) => {
      if (path !== '/wp-login.php') return { status: 200 };
      return address === '127.0.0.1' ? WAIT : FORM;
    });
    const site = await AttackedSite.meet({ ...options, manyAddresses: true });
    expect(site.lacks(['hidden login'])).toBe('/wp-login.php shows the login');
    expect(site.lacks(['login address'])).toBe(null);
    expect((await site.request({ target: '/wp-login.php' })).status).toBe(200);
  });

  it('is reported when the owner can’t log in', async () => {
    const owner = { login: 'owner', password: 'right' };
    await expect(AttackedSite.meet({ ...(await closed()), owner })).rejects.toThrow(/tells this address to wait/);
  });
});

describe('a site whose hidden login asks this address to wait (429)', () => {
  it('still counts as hidden, and its login is not expected to open', async () => {
    const options = await serve((path) => (path === '/quiet-door' ? WAIT : path === '/' ? { status: 200 } : MISSING));
    const site = await AttackedSite.meet({ ...options, loginUrl: '/quiet-door' });
    expect(site.lacks(['hidden login'])).toBe(null);
    expect(site.lacks(['login address'])).toMatch(/^limited, not judged/);
    const results = await runAttacks(site, { groups: ['hidden login'] });
    const failed = results.filter(({ ok, twin }) => ok === false && twin.startsWith('the login at its own address'));
    // The fake site has no admin-ajax and no posts, so the twins that use them fail.
    expect(failed).toEqual([]);
  });
});

describe('a login page that answers 403', () => {
  const closed = () => serve((path) => ({ status: path === '/wp-login.php' ? 403 : 200 }));

  it('does not count as hidden', async () => {
    expect((await AttackedSite.meet(await closed())).lacks(['hidden login'])).toMatch(/^limited, not judged: .*403/);
  });

  it('is judged when the caller says that the login is hidden, since 403 reveals it', async () => {
    const site = await AttackedSite.meet({ ...(await closed()), loginUrl: '/quiet-door' });
    expect(site.lacks(['hidden login'])).toBe(null);
    const results = await runAttacks(site, { groups: ['hidden login'] });
    expect(results.find(({ attack }) => attack === '/wp-login.php')?.ok).toBe(false);
  });
});

describe('an answer of 429', () => {
  const meet = async (body: string) => {
    const options = await serve((path) => (path === '/limited' ? { status: 429, body } : { status: 200 }));
    return AttackedSite.meet(options);
  };

  it('counts neither as held nor as failed, since it says nothing about the resource', async () => {
    const site = await meet('Wait.');
    expect(await refused('/limited')(site)).toEqual(limited);
    expect(await silentAbout('/limited', /secret/)(site)).toEqual(limited);
  });

  it('counts as a failure when it contains the searched text', async () => {
    const site = await meet('the secret');
    expect(await refused('/limited', /secret/)(site)).toMatchObject({ ok: false });
    expect(await silentAbout('/limited', /secret/)(site)).toMatchObject({ ok: false });
  });

  it('counts as a failure for a legitimate request', async () => {
    expect(await answered('a page', '/limited').run(await meet('Wait.'))).toEqual({ ok: false, got: '429' });
  });
});
