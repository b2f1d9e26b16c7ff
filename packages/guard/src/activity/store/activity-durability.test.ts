import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { allEvents, allVisits, EVERY_VISIT, SITE, testStore } from '../../../test/support/activity-store.js';
import { scratchFolder } from '../../../test/support/scratch.js';
import { openSqlite } from '../../storage/sqlite.js';

/**
 * A process that writes visits and events as fast as it can, with the timing of the product. It prints each batch of
 * visits and each event once it is acknowledged.
 */
const writer = `
  import { openActivityStore } from './dist/activity/store/open-activity-store.js';
  import { packVisits } from './dist/activity/packed-visits.js';
  import { silentLogger } from './dist/lib/logger.js';
  const store = await openActivityStore({ dataDir: process.env.DATA_DIR, logger: silentLogger(), clock: () => Date.now() });
  const say = (line) => process.stdout.write(line + '\\n');
  let batch = 0;
  setInterval(() => {
    const at = Date.now();
    const visits = Array.from({ length: 300 }, (_, n) => ({ at, address: '192.0.2.' + (n % 250), target: '/' + batch + '/' + n,
      status: 200, rule: null, agent: null, count: 1 }));
    const number = batch++;
    store.write([{ site: '${SITE}', visits: packVisits(visits), dropped: 0 }]).then(() => say('visits ' + number));
  }, 50);
  for (let n = 0; ; n++) {
    await store.writeEvents('${SITE}', [{ uid: 'uid-' + n, at: Math.floor(Date.now() / 1000), kind: 'login',
      user: { id: 1, login: 'owner' }, address: '192.0.2.1', origin: 'web', object: '', objectType: '', before: null, after: null }]);
    say('event ' + n);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
`;

it('no acknowledged event and no acknowledged batch of visits is lost when the process is killed', async () => {
  for (const batches of [30, 45]) {
    const dataDir = await scratchFolder();
    const child = spawn(process.execPath, ['--input-type=module', '-e', writer], {
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
      env: { ...process.env, DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const acknowledged = new Set<number>();
    let lastEvent = -1;
    for await (const line of createInterface({ input: child.stdout })) {
      const [what, number] = line.split(' ');
      if (what === 'event') lastEvent = Number(number);
      else acknowledged.add(Number(number));
      if (acknowledged.size >= batches) child.kill('SIGKILL');
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    expect(lastEvent).toBeGreaterThan(0);

    const database = openSqlite(join(dataDir, 'activity.sqlite'), { busyTimeoutMs: 0 });
    expect(database.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' });
    const totals = `select (select total(visits) from visitors) as visitors, (select total(rows) from visit_stretches where kind = 0)
      as buckets, (select total(hits) from visit_hours) as hits, (select count(*) from visits) as rows`;
    const { visitors, buckets, hits, rows } = database.prepare(totals).get() as Record<string, number>;
    expect([visitors, buckets, hits]).toEqual([rows, rows, rows]);
    database.close();

    const store = await testStore({ dataDir });
    const uids = await allEvents(store);
    expect(uids.length).toBeGreaterThanOrEqual(lastEvent + 1);
    const stored = new Set((await allVisits(store)).map(({ target }) => target));
    expect(stored.size).toBe((await store.countVisits(SITE, EVERY_VISIT, null)).rows);
    expect(acknowledged.size).toBeGreaterThanOrEqual(batches);
    const targets = [...acknowledged].flatMap((batch) => Array.from({ length: 300 }, (_, n) => `/${batch}/${n}`));
    expect(targets.filter((target) => !stored.has(target))).toEqual([]);
  }
});
