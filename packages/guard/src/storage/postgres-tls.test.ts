import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Certificate, certificateAuthority, hasOpenssl } from '../../test/support/certificates.js';
import { freePort } from '../../test/support/front-proxy.js';
import { recordedLog } from '../../test/support/logs.js';
import {
  type PostgresServer,
  postgresMissing,
  startPostgres,
  withoutPostgres,
} from '../../test/support/postgres-server.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { openGuardDatabase } from '../migrations.js';
import { createSettingsStore } from '../settings/settings-store.js';
import type { StorageError } from './storage-error.js';

const PASSWORD = 'p@ss:/?#%word';

async function runServer(tls?: Certificate): Promise<PostgresServer> {
  const server = await startPostgres({ port: await freePort(), password: PASSWORD, ...(tls && { tls }) });
  onTestFinished(() => server.remove());
  await server.createDatabase('guard');
  return server;
}

/** Opens a database and reads from it. @returns what it said, with everything that was logged */
async function use(url: string, dataDir: string) {
  const log = recordedLog();
  let said = 'works';
  let fault = 'none';
  try {
    const db = await openGuardDatabase({ url, dataDir, logger: log.logger });
    await createSettingsStore(db).read('a');
    await db.destroy();
  } catch (error) {
    ({ fault, detail: said } = error as StorageError);
  }
  for (const text of [said, log.text()]) {
    for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), 'wrong-secret']) expect(text).not.toContain(secret);
  }
  return { said, fault };
}

describe.skipIf(postgresMissing !== null || !hasOpenssl)(`PostgreSQL by TCP${withoutPostgres}`, () => {
  it('is used with TLS and a certificate for its name that a named authority signed', async () => {
    const [authority, another, dataDir] = [
      await certificateAuthority(),
      await certificateAuthority(),
      await scratchFolder(),
    ];
    await writeFile(join(dataDir, 'ca.pem'), authority.cert);
    await writeFile(join(dataDir, 'another.pem'), another.cert);
    const server = await runServer(await authority.issue(['DNS:localhost']));
    const url = (host: string, parameters: string) => server.url('guard', { host, parameters });
    const verified = 'sslmode=verify-full&sslrootcert=ca.pem';

    expect(await use(url('localhost', verified), dataDir)).toEqual({ fault: 'none', said: 'works' });
    const [{ encrypted } = {}] = await server.query<{ encrypted: boolean }>(
      "select bool_and(ssl) as encrypted from pg_stat_ssl join pg_stat_activity using (pid) where usename = 'guard'",
    );
    expect(encrypted).not.toBe(false);
    expect(await use(url('localhost', 'sslmode=require'), dataDir)).toEqual({ fault: 'none', said: 'works' });

    const wrongHost = await use(url('127.0.0.1', verified), dataDir);
    expect(wrongHost).toEqual({ fault: 'cannot_open', said: expect.stringContaining('127.0.0.1') });
    expect(wrongHost.said).toMatch(/certificate/i);
    const wrongAuthority = await use(url('localhost', 'sslmode=verify-full&sslrootcert=another.pem'), dataDir);
    expect(wrongAuthority).toEqual({ fault: 'cannot_open', said: expect.stringMatching(/certificate|signature/i) });
    const noAuthority = await use(url('localhost', 'sslmode=verify-full'), dataDir);
    expect(noAuthority).toEqual({ fault: 'cannot_open', said: expect.stringMatching(/certificate/i) });
    const noFile = await use(url('localhost', 'sslmode=verify-full&sslrootcert=missing.pem'), dataDir);
    expect(noFile).toEqual({ fault: 'cannot_open', said: expect.stringContaining('missing.pem') });
  });

  it('is refused without TLS where TLS is required', async () => {
    const [server, dataDir] = [await runServer(), await scratchFolder()];
    for (const mode of ['require', 'verify-full']) {
      const refused = await use(server.url('guard', { parameters: `sslmode=${mode}` }), dataDir);
      expect(refused).toEqual({ fault: 'cannot_open', said: expect.stringMatching(/does not support SSL/) });
    }
    // By default TLS is required from servers on other machines only. This address is one of this machine, too, but not
    // by its name.
    expect(await use(server.url('guard', { host: '0.0.0.0' }), dataDir)).toEqual({
      fault: 'cannot_open',
      said: expect.stringMatching(/does not support SSL/),
    });
    expect(await use(server.url('guard'), dataDir)).toEqual({ fault: 'none', said: 'works' });
  });

  it('is refused with a wrong or missing password, or for a database that does not exist', async () => {
    const [server, dataDir] = [await runServer(), await scratchFolder()];
    const right = server.url('guard');
    const wrong = right.replace(encodeURIComponent(PASSWORD), 'wrong-secret');
    expect(await use(wrong, dataDir)).toEqual({
      fault: 'cannot_open',
      said: expect.stringMatching(
        /^postgres:\/\/guard@127\.0\.0\.1:\d+\/guard: password authentication failed for user "guard"$/,
      ),
    });
    const without = right.replace(`:${encodeURIComponent(PASSWORD)}`, '');
    expect(await use(without, dataDir)).toEqual({ fault: 'cannot_open', said: expect.stringContaining('password') });
    await writeFile(join(dataDir, 'password'), `${PASSWORD}\n`, { mode: 0o600 });
    expect(await use(`${without}?passwordfile=password`, dataDir)).toEqual({ fault: 'none', said: 'works' });
    expect(await use(`${without}?passwordfile=missing`, dataDir)).toEqual({
      fault: 'cannot_open',
      said: expect.stringContaining('missing'),
    });
    expect(await use(right.replace(/guard$/, 'nothing'), dataDir)).toEqual({
      fault: 'cannot_open',
      said: expect.stringContaining('database "nothing" does not exist'),
    });
  });
});
