import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runInChild, serve, spawnServe } from '../../test/support/command-line.js';
import { openTestDatabase } from '../../test/support/database.js';
import { fakeConnector } from '../../test/support/fake-connector.js';
import { callApi, dataFolderFor } from '../../test/support/running-guard.js';
import { eventually } from '../../test/support/scratch.js';

async function dataFolder() {
  const connector = await fakeConnector();
  return { connector, dataDir: await dataFolderFor(connector) };
}

const setFeeds = (url: string, value: number) =>
  callApi(url, '/disable-feeds', { body: JSON.stringify({ disable_feed: value }) });
const feeds = async (url: string) => {
  const { body } = await callApi(url, '/fetch-options', { body: '{"page":"security"}' });
  return (body.data as { disable_feed: number }).disable_feed;
};

/** Starts `serve`. `code` is null once it serves, and its exit code when it does not. */
async function tryToServe(dataDir: string) {
  const { child, log } = spawnServe(dataDir);
  let code: number | null = null;
  child.once('close', (status) => {
    code = status;
  });
  await eventually(() => code !== null || log().includes('guard-started'));
  return { child, code, log };
}

describe('a second guard on a data folder', () => {
  it('exits at once and does not disturb the first one', async () => {
    const { dataDir } = await dataFolder();
    const first = await serve(dataDir);
    expect((await setFeeds(first.url, 1)).http).toBe(200);
    for (let round = 0; round < 3; round++) {
      expect(await runInChild('serve', '--data-dir', dataDir)).toEqual({
        status: 1,
        stdout: '',
        stderr: `Another guard runs on this data folder (process ${first.child.pid}).\n`,
      });
    }
    expect(await readFile(join(dataDir, 'guard.pid'), 'utf8')).toBe(`${first.child.pid}\n`);
    expect(await feeds(first.url)).toBe(1);
    expect((await setFeeds(first.url, 0)).http).toBe(200);
    expect(first.log()).not.toMatch(/"level":"(?:error|fatal)"/);
  });

  it('is one of six that start together: exactly one serves, and each other one reports why it does not', async () => {
    const { dataDir } = await dataFolder();
    const all = await Promise.all(Array.from({ length: 6 }, () => tryToServe(dataDir)));
    const [serving, ...more] = all.filter(({ code }) => code === null);
    expect(more).toEqual([]);
    expect(await readFile(join(dataDir, 'guard.pid'), 'utf8')).toBe(`${serving?.child.pid}\n`);
    for (const { code, log } of all.filter((each) => each !== serving)) {
      expect([code, log()]).toEqual([1, expect.stringMatching(/^Another guard runs on this data folder[^\n]*\.\n$/)]);
    }
  });

  it('takes over at once after the first one was killed, also when another program has its process id now', async () => {
    const { dataDir } = await dataFolder();
    const first = await serve(dataDir);
    expect((await setFeeds(first.url, 1)).http).toBe(200);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    // The process id of a running program: this one.
    await writeFile(join(dataDir, 'guard.pid'), `${process.pid}\n`);
    const { stdout } = await runInChild('status', '--data-dir', dataDir, '--json');
    expect(JSON.parse(stdout).guard).toMatchObject({ running: false, pid: null });
    const second = await serve(dataDir);
    expect(await feeds(second.url)).toBe(1);
    expect(await readFile(join(dataDir, 'guard.pid'), 'utf8')).toBe(`${second.child.pid}\n`);
  });
});

describe('the command line while guard answers requests', () => {
  it('changes the same settings as owners do: no acknowledged change is lost, and no request fails', async () => {
    const { connector, dataDir } = await dataFolder();
    const { url, log } = await serve(dataDir);
    await eventually(() => connector.policy !== null);
    let over = false;
    const odd: unknown[] = [];
    const visits = (async () => {
      while (!over) {
        const { status } = await fetch(`${url}/xmlrpc.php`, { method: 'POST' });
        if (status !== 403 && status !== 200) odd.push(status);
      }
    })();
    let last = 0;
    let changes = 0;
    const owner = (async () => {
      for (let round = 0; !over; round++) {
        const { http, body } = await setFeeds(url, round % 2);
        if (http !== 200) odd.push([http, body]);
        else {
          last = round % 2;
          changes++;
        }
      }
    })();
    const commands = [
      ['pause', '30'],
      ['status'],
      ['resume'],
      ['login-url', 'reset'],
      ['login-access', 'clear'],
      ['unblock', '203.0.113.7'],
      ['away-mode', 'off'],
    ];
    for (const args of [...commands, ...commands]) {
      const { status, stderr } = await runInChild(...args, '--data-dir', dataDir);
      if (status !== 0 && args[0] !== 'status') odd.push([args, status, stderr]);
    }
    over = true;
    await Promise.all([visits, owner]);
    expect(odd).toEqual([]);
    expect(changes).toBeGreaterThan(5);
    expect(await feeds(url)).toBe(last);
    expect((await fetch(`${url}/xmlrpc.php`, { method: 'POST' })).status).toBe(403);
    await eventually(
      () => connector.policy?.policy.disable_feed === last && connector.policy.policy.disable_xml_rpc === 1,
    );
    expect(log()).not.toMatch(/"level":"(?:error|fatal)"/);
    const db = await openTestDatabase(dataDir);
    onTestFinished(() => db.destroy());
    const rows = await db.selectFrom('audit').select(['name', 'actor_login']).execute();
    // Each change of the owner toggled the value, except that the first may have set the value that was stored already.
    expect(rows.filter(({ name }) => name === 'disable_feed').length).toBeGreaterThanOrEqual(changes - 1);
    const byCommand = rows.filter(({ actor_login }) => actor_login === 'command line').map(({ name }) => name);
    const once = ['paused_until', 'paused_until', 'login_unblock'];
    expect(byCommand.sort()).toEqual([...once, ...once].sort());
  });
});

describe('SIGUSR2', () => {
  it('switches the log to debug and back, and logs it', async () => {
    const { dataDir } = await dataFolder();
    const { child, url, log } = await serve(dataDir);
    const refusals = () => log().match(/"request-refused"/g)?.length ?? 0;
    const refuse = async () => (await fetch(`${url}/xmlrpc.php`, { method: 'POST' })).text();
    await refuse();
    child.kill('SIGUSR2');
    await eventually(() => log().includes('"to":"debug"'));
    await refuse();
    await eventually(() => refusals() === 1);
    child.kill('SIGUSR2');
    await eventually(() => log().includes('"to":"info"'));
    await refuse();
    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(refusals()).toBe(1);
  });
});
