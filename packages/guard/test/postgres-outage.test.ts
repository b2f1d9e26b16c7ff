import { describe, expect, it } from 'vitest';
import { sqlLoginAttemptStore } from '../src/login/login-attempts-store.js';
import { fakeConnector } from './support/fake-connector.js';
import { fakeWordPress } from './support/fake-wordpress.js';
import { recordedLog } from './support/logs.js';
import { suiteServer } from './support/postgres-databases.js';
import { postgresMissing, withoutPostgres } from './support/postgres-server.js';
import { callApi, dataFolderFor, runningGuard } from './support/running-guard.js';
import { eventually } from './support/scratch.js';
import { SECRET } from './support/site-config.js';

describe.skipIf(postgresMissing !== null)(`while PostgreSQL is away, a guard that runs${withoutPostgres}`, () => {
  const suite = suiteServer();

  /** A guard with its settings in a new database. */
  async function start(upstream: string) {
    const database = await suite.createDatabase();
    const dataDir = await dataFolderFor({ upstream }, {}, { database: suite.server.url(database) });
    const log = recordedLog();
    const guard = await runningGuard(dataDir, log.logger);
    return { database, dataDir, guard, log };
  }

  it('is enforced, and no change is accepted', async () => {
    const connector = await fakeConnector();
    const { guard, log } = await start(connector.upstream);
    await eventually(() => connector.policy !== null);
    const set = (value: number) =>
      callApi(guard.url, '/disable-xml-rpc', { body: JSON.stringify({ disable_xml_rpc: value }) });
    const xmlRpc = async () => (await fetch(`${guard.url}//xmlrpc.php`, { method: 'POST', body: 'x' })).status;
    expect((await set(1)).http).toBe(200);
    expect(await xmlRpc()).toBe(403);

    await suite.server.stop();
    const refused = await set(0);
    expect([refused.http, refused.body.code]).toEqual([503, 'storage_unavailable']);
    expect(refused.body.message).not.toMatch(/postgres|guard@|socket/i);
    expect(await xmlRpc()).toBe(403);
    expect(connector.policy?.policy.disable_xml_rpc).toBe(1);

    await suite.server.start();
    await eventually(async () => (await set(0)).http === 200);
    expect(await xmlRpc()).not.toBe(403);
    const told = log.events().filter((event) => /^database-/.test(event));
    expect(told).toEqual(['database-unreachable', 'database-reached']);
  });

  it('counts failed logins and locks, and stores them when it is there again', async () => {
    const { guard, database } = await start((await fakeWordPress(SECRET)).upstream);
    const guess = async () =>
      (
        await fetch(`${guard.url}/wp-login.php`, {
          method: 'POST',
          body: new URLSearchParams({ log: 'owner', pwd: 'no' }),
        })
      ).status;
    expect(await guess()).toBe(200);
    await suite.server.stop();
    for (let round = 1; round < 5; round++) expect(await guess()).toBe(200);
    expect(await guess()).toBe(429);

    await suite.server.start();
    const store = sqlLoginAttemptStore(await suite.open(database));
    await eventually(async () => (await store.load('site'))[0]?.failures === 5);
    expect(await guess()).toBe(429);
  });
});

describe.skipIf(postgresMissing !== null)(`when PostgreSQL starts after guard${withoutPostgres}`, () => {
  const suite = suiteServer();

  it('guard waits for it, and then serves with the stored settings', async () => {
    const connector = await fakeConnector();
    const url = suite.server.url(await suite.createDatabase());
    const dataDir = await dataFolderFor(connector, {}, { database: url });
    const first = await runningGuard(dataDir);
    await eventually(() => connector.policy !== null);
    const { http } = await callApi(first.url, '/disable-feeds', { body: JSON.stringify({ disable_feed: 1 }) });
    expect(http).toBe(200);
    await first.close();
    await suite.server.stop();
    const starting = runningGuard(dataDir);
    await suite.server.start();
    expect((await fetch(`${(await starting).url}/feed/`)).status).toBe(404);
  });
});
