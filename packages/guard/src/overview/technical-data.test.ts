import { technicalDataFields } from '@security-optimizer/contract/overview/technical-data';
import { expect, it, onTestFinished } from 'vitest';
import { openTestDatabase } from '../../test/support/database.js';
import { recordedLog } from '../../test/support/logs.js';
import { providerServer } from '../../test/support/provider-server.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { siteConfig } from '../../test/support/site-config.js';
import { version } from '../lib/version.js';
import {
  createTechnicalDataSender,
  postToProvider,
  RETRY_AFTER_MS,
  SEND_EVERY_MS,
  toTechnicalData,
} from './technical-data.js';
import { sqlTechnicalDataSends } from './technical-data-store.js';

const site = siteConfig();
const facts = {
  site,
  hello: { connector: '0.1.0', php: '8.3.1', wordpress: '6.8', locale: 'de_DE', multisite: false },
  plugins: [
    { file: 'shop/shop.php', name: 'Shop', version: '2.1', kind: 'plugin', active: true, network_active: false },
    { file: 'hello.php', name: 'Hello', version: '1.0', kind: 'plugin', active: false, network_active: false },
  ],
  essentials: [{ page: 'site-security', title: 'Disable XML-RPC', on: true, complete: true }],
  server: { system: 'linux', processor: 'x64', node: '22.16.0' },
} as const satisfies Parameters<typeof toTechnicalData>[0];

async function senderAt(start: number) {
  const provider = await providerServer();
  const db = await openTestDatabase(await scratchFolder());
  onTestFinished(() => db.destroy());
  const state = { agreed: true, now: start };
  const log = recordedLog();
  const create = () =>
    createTechnicalDataSender({
      sites: [site],
      isAgreed: () => state.agreed,
      collect: async () => toTechnicalData(facts),
      send: (data) => postToProvider(`${provider.url}/technical-data`, data),
      sends: sqlTechnicalDataSends(db),
      clock: () => state.now,
      logger: log.logger,
    });
  return { provider, state, create, sender: create(), events: log.events };
}

it('technical data contain the fields of the list that the owner sees, and no others', () => {
  const data = toTechnicalData(facts);
  expect(Object.keys(data)).toEqual(technicalDataFields.map(({ field }) => field));
  expect(data).toEqual({
    site: expect.stringMatching(/^[0-9a-f]{32}$/),
    security_optimizer: { guard: version, plugin: '0.1.0' },
    server: { system: 'linux', processor: 'x64', node: '22.16.0' },
    php: '8.3.1',
    wordpress: { version: '6.8', language: 'de_DE', network: false },
    plugins: [
      { folder: 'shop', version: '2.1', active: true },
      { folder: 'hello.php', version: '1.0', active: false },
    ],
    protections: { 'Disable XML-RPC': true },
  });
  expect(JSON.stringify(data)).not.toContain(site.secret);
});

it('technical data are sent soon after the consent, then once a week, also across restarts', async () => {
  const { provider, state, create, sender } = await senderAt(1_000_000);
  await sender.round();
  await sender.round();
  expect(provider.received).toEqual([{ path: '/technical-data', body: toTechnicalData(facts) }]);
  state.now += SEND_EVERY_MS - 1;
  await create().round();
  expect(provider.received).toHaveLength(1);
  state.now += 1;
  await create().round();
  expect(provider.received).toHaveLength(2);
});

it('nothing is sent without consent, or after the consent was withdrawn', async () => {
  const { provider, state, sender } = await senderAt(0);
  state.agreed = false;
  await sender.round();
  state.agreed = true;
  await sender.round();
  state.agreed = false;
  state.now += SEND_EVERY_MS;
  await sender.round();
  expect(provider.received).toHaveLength(1);
});

it.each([500, 302])(
  'after the status %i they are sent again an hour later, and the failure is logged once',
  async (status) => {
    const { provider, state, sender, events } = await senderAt(0);
    provider.status = status;
    await sender.round();
    await sender.round();
    expect(provider.received.map(({ path }) => path)).toEqual(['/technical-data']);
    state.now += RETRY_AFTER_MS;
    await sender.round();
    provider.status = 204;
    state.now += RETRY_AFTER_MS;
    await sender.round();
    expect(provider.received).toHaveLength(3);
    expect(events()).toEqual(['technical-data-send-failed', 'technical-data-sent']);
  },
);
