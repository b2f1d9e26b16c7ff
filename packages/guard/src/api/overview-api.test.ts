import { overviewEndpoints } from '@security-optimizer/contract/overview/endpoints';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTestDatabase } from '../../test/support/database.js';
import { fakeConnector } from '../../test/support/fake-connector.js';
import { providerServer } from '../../test/support/provider-server.js';
import { callApi, dataFolderFor, runningGuard } from '../../test/support/running-guard.js';
import { eventually } from '../../test/support/scratch.js';

const RATE_AFTER_MS = 7 * 24 * 3600_000;

const ebook = {
  title: 'Ten steps',
  link: 'https://example.com/guide',
  text: 'A short guide.',
  image: 'https://example.com/guide.png',
};
const consent = { technicalDataUrl: 'https://example.com/data', emailUrl: 'https://example.com/mails' };
const branding = { ebook, rateLink: 'https://example.com/review' };

async function overviewSite(config: object = {}) {
  const connector = await fakeConnector();
  const dataDir = await dataFolderFor(connector, {}, config);
  const guard = await runningGuard(dataDir);
  await eventually(() => connector.policy !== null);
  const db = await openTestDatabase(dataDir);
  onTestFinished(() => db.destroy());
  return { connector, dataDir, guard, db, call: caller(guard.url) };
}

const caller = (url: string) => async (suffix: string, body?: object, method?: string) => {
  const response = await callApi(url, suffix, {
    ...(method === undefined ? {} : { method }),
    body: body === undefined ? null : JSON.stringify(body),
  });
  return { ...response, data: response.body.data as unknown };
};

describe('the content of the provider', () => {
  it.each([
    [{ ebook: null, rateLink: 'https://example.com/plan' }, null, 'https://example.com/plan'],
    [{ ebook: { title: 'Plan', link: 'https://example.com/plan' } }, { title: 'Plan', text: '' }, branding.rateLink],
    [{}, ebook, branding.rateLink],
  ])('is that of the site (%j), and the machine’s where the site has none', async (own, book, link) => {
    const connector = await fakeConnector();
    const guard = await runningGuard(await dataFolderFor(connector, { branding: own }, { branding }));
    await eventually(() => connector.policy !== null);
    const call = caller(guard.url);
    expect([(await call('/e-book')).data, (await call('/rate')).data]).toMatchObject([book, { link }]);
  });
});

/** Calls the provider's shared settings API, as a client does. */
async function saveConsent(
  url: string,
  body: object,
  path = '/wp-json/provider-settings/v1/update-settings',
  method = 'PUT',
) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { cookie: 'session=owner', 'x-wp-nonce': 'owner-nonce' },
    body: JSON.stringify(body),
  });
  return { http: response.status, body: (await response.json()) as Awaited<ReturnType<typeof callApi>>['body'] };
}

describe('the endpoints of the Security Dashboard', () => {
  it.each(overviewEndpoints.filter(({ name }) => name !== 'update:consent').map(({ suffix }) => suffix))(
    '%s responds as the contract defines, to POST and to GET',
    async (suffix) => {
      const { call } = await overviewSite({ branding });
      const { response } = overviewEndpoints.find((entry) => entry.suffix === suffix) as (typeof overviewEndpoints)[0];
      for (const method of ['POST', 'GET']) {
        const { http, data } = await call(suffix, undefined, method);
        expect(http).toBe(200);
        expect((response as (typeof overviewEndpoints)[0]['response']).safeParse(data).error).toBeUndefined();
      }
    },
  );

  it('return a notification about WordPress until its cause is fixed', async () => {
    const { connector, call } = await overviewSite();
    expect((await call('/notifications')).data).toEqual([]);
    connector.overview = { ...connector.overview, plugin_updates: 2 };
    expect((await call('/notifications')).data).toMatchObject([
      {
        id: 'plugin-updates',
        title: 'Two plugins are out of date',
        button_link: 'https://example.com/wp-admin/update-core.php',
      },
    ]);
    connector.overview = { ...connector.overview, plugin_updates: 0 };
    expect((await call('/notifications')).data).toEqual([]);
  });

  it('return a notification when WordPress does not respond', async () => {
    const { connector, call } = await overviewSite();
    connector.failing.add('overview');
    expect((await call('/notifications')).data).toMatchObject([{ id: 'wordpress-unreachable', level: 'danger' }]);
  });

  it('count essentials again after each change', async () => {
    const { call } = await overviewSite();
    const on = async () => ((await call('/hardening')).data as { on: number }[]).map((card) => card.on);
    expect(await on()).toEqual([5, 2]);
    await call('/xss-protection', { xss_protection: 0 });
    expect(await on()).toEqual([4, 2]);
  });

  it('return the e-book of the configuration, or nothing', async () => {
    const { call } = await overviewSite({ branding });
    expect((await call('/e-book')).data).toEqual(ebook);
    const without = await overviewSite();
    expect((await without.call('/e-book')).data).toBeNull();
  });

  it('count refused requests and blocked visitors', async () => {
    const { call } = await overviewSite();
    expect((await call('/protection-facts')).data).toEqual({ blocked: 0, block_list: 0, failed_logins: 0 });
    expect((await call('/block-addresses', { address: '198.51.100.0/24' })).http).toBe(200);
    expect((await call('/protection-facts')).data).toMatchObject({ block_list: 1 });
  });
});

describe('the request for a review', () => {
  it('is shown a week after the first start, and never again once it was dismissed', async () => {
    const { connector, dataDir, guard, db, call } = await overviewSite({ branding });
    expect((await call('/rate')).data).toEqual({ show: 0, link: branding.rateLink });
    await db
      .updateTable('first_starts')
      .set({ at: Date.now() - RATE_AFTER_MS })
      .execute();
    await guard.close();

    const later = await runningGuard(dataDir);
    await eventually(() => connector.policy !== null);
    const again = caller(later.url);
    expect((await again('/rate')).data).toEqual({ show: 1, link: branding.rateLink });
    expect((await again('/rate', { show: 1 })).body).toMatchObject({ status: 400, fields: { show: 'Use 0.' } });
    expect((await again('/rate', { show: 0 })).data).toEqual({ show: 0, link: branding.rateLink });
    expect((await again('/rate')).data).toMatchObject({ show: 0 });
  });

  it('can be dismissed by GET, like every call that mostly reads, but not by a page of another site', async () => {
    const { guard, db, call } = await overviewSite({ branding });
    await db
      .updateTable('first_starts')
      .set({ at: Date.now() - RATE_AFTER_MS })
      .execute();
    const isDismissed = async () =>
      (await db.selectFrom('settings').select('name').where('name', 'like', '%rate%').execute()).length > 0;
    const cookie = 'session=owner';
    const nonce = { 'x-wp-nonce': 'owner-nonce' };
    const attempts: Record<string, string>[] = [
      { cookie },
      { cookie, 'sec-fetch-site': 'cross-site' },
      { cookie, ...nonce, 'sec-fetch-site': 'cross-site' },
      { cookie, ...nonce, origin: 'https://evil.example' },
      nonce,
    ];
    for (const headers of attempts) {
      for (const method of ['GET', 'HEAD', 'POST']) {
        const response = await fetch(`${guard.url}/wp-json/security-optimizer/v1/rate?show=0`, { method, headers });
        expect(response.status).toBe(403);
      }
    }
    expect(await isDismissed()).toBe(false);
    expect((await call('/rate?show=0', undefined, 'GET')).http).toBe(200);
    expect(await isDismissed()).toBe(true);
  });
});

describe('consent', () => {
  it('is requested by WordPress until it was saved, also after a restart', async () => {
    const { connector, dataDir, guard, db } = await overviewSite({ consent });
    expect(connector.policy?.policy).toMatchObject({ show_data_consent: 1, show_email_consent: 1 });
    const saved = await saveConsent(guard.url, { siteground_settings_security: 1, siteground_data_consent: 1 });
    expect(saved).toEqual({
      http: 200,
      body: { data: { show_data_field: 0, show_email_field: 0 }, message: 'Your choice is saved.', status: 200 },
    });
    expect(connector.policy?.policy).toMatchObject({ show_data_consent: 0, show_email_consent: 0 });
    const rows = await db.selectFrom('audit').select(['name', 'after', 'actor_login']).orderBy('name').execute();
    expect(rows).toEqual([
      { name: 'consent_asked', after: '1', actor_login: 'owner' },
      { name: 'data_consent', after: '1', actor_login: 'owner' },
    ]);
    await guard.close();
    connector.policy = null;
    await runningGuard(dataDir);
    await eventually(() => connector.policy !== null);
    expect(connector.policy).toMatchObject({ policy: { show_data_consent: 0, show_email_consent: 0 } });
  });

  it.each<[object, object]>([
    [{}, { show_data_consent: 0, show_email_consent: 0 }],
    [{ technicalDataUrl: consent.technicalDataUrl }, { show_data_consent: 1, show_email_consent: 0 }],
    [{ emailUrl: consent.emailUrl }, { show_data_consent: 0, show_email_consent: 1 }],
  ])('is requested only where the provider has a URL for it: %o', async (urls, isAsked) => {
    const { connector } = await overviewSite({ consent: urls });
    expect(connector.policy?.policy).toMatchObject(isAsked);
  });

  it('is stored as no where the provider has no URL', async () => {
    const { guard, db } = await overviewSite();
    const yes = { siteground_settings_security: 1, siteground_data_consent: 1, siteground_email_consent: 1 };
    expect((await saveConsent(guard.url, yes)).http).toBe(200);
    const rows = await db.selectFrom('settings').select(['name', 'value']).where('name', 'like', '%_consent').execute();
    expect(rows.filter(({ value }) => value === '1')).toEqual([]);
  });

  it('to e-mails sends the caller’s address to the provider, and so does its withdrawal', async () => {
    const provider = await providerServer();
    const { guard } = await overviewSite({ consent: { emailUrl: `${provider.url}/e-mails` } });
    const answer = (value: 0 | 1) =>
      saveConsent(guard.url, { siteground_settings_security: 1, siteground_email_consent: value });
    await answer(0);
    expect(provider.received).toEqual([]);
    await answer(1);
    await answer(1);
    await answer(0);
    expect(provider.received).toEqual([
      { path: '/e-mails', body: { email: 'owner@example.com', agreed: true } },
      { path: '/e-mails', body: { email: 'owner@example.com', agreed: false } },
    ]);
  });

  it('to e-mails is not saved when the provider does not respond', async () => {
    const provider = await providerServer();
    const { guard, db } = await overviewSite({ consent: { emailUrl: provider.url } });
    provider.status = 503;
    const saved = await saveConsent(guard.url, { siteground_settings_security: 1, siteground_email_consent: 1 });
    expect(saved.body).toMatchObject({ status: 502, code: 'provider_unreachable' });
    expect(await db.selectFrom('settings').selectAll().execute()).toEqual([]);
  });

  it.each(['/?rest_route=/provider-settings/v1/update-settings', '/index.php/wp-json/provider-settings/v1/none'])(
    'is saved at %s only if that is its address',
    async (path) => {
      const { guard } = await overviewSite();
      const { http } = await saveConsent(guard.url, { siteground_settings_security: 1 }, path);
      expect(http).toBe(path.includes('none') ? 404 : 200);
    },
  );

  it('may be sent as POST, like every call', async () => {
    const { guard } = await overviewSite();
    const { http, body } = await saveConsent(guard.url, { siteground_settings_security: 1 }, undefined, 'POST');
    expect([http, body.data]).toEqual([200, { show_data_field: 0, show_email_field: 0 }]);
  });

  it.each<[string, object]>([
    ['siteground_settings_security', { siteground_data_consent: 1 }],
    ['siteground_data_consent', { siteground_settings_security: 1, siteground_data_consent: 2 }],
  ])('is refused when %s is invalid, and nothing is stored', async (field, body) => {
    const { connector, guard, db } = await overviewSite({ consent });
    const saved = await saveConsent(guard.url, body);
    expect(saved.http).toBe(400);
    expect(Object.keys(saved.body.fields ?? {})).toEqual([field]);
    expect(await db.selectFrom('settings').selectAll().execute()).toEqual([]);
    expect(connector.policy?.policy).toMatchObject({ show_data_consent: 1 });
  });

  it('is not saved below the plugin’s own namespace', async () => {
    const { call } = await overviewSite();
    expect((await call('/update-settings', { siteground_settings_security: 1 }, 'PUT')).http).toBe(404);
  });
});
