import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { waitForOutcome } from './support/command-line.js';
import { fakeConnector } from './support/fake-connector.js';
import { freePort } from './support/front-proxy.js';
import { postgresMissing, startPostgres, withoutPostgres } from './support/postgres-server.js';
import { callApi, dataFolderFor, runningGuard } from './support/running-guard.js';

const guide = readFileSync(new URL('../../../docs/operator/postgresql.md', import.meta.url), 'utf8');

/** The blocks of a language in the guide's first section. */
function guideCommands(language: string): readonly string[] {
  const section = /^## Setting it up$([\s\S]*?)^## /m.exec(guide)?.[1] ?? '';
  const blocks = [...section.matchAll(new RegExp(`^ *\`\`\`${language}\\n([^]*?)^ *\`\`\`$`, 'gm'))];
  return blocks.flatMap(([, block = '']) => block.trim().split('\n')).map((line) => line.trim());
}

describe.skipIf(postgresMissing !== null)(`the guide to PostgreSQL${withoutPostgres}`, () => {
  it('creates user and database, and guard keeps its settings there', async () => {
    const [administrator, own] = ['of-the-server', 'of-guard'];
    const port = await freePort();
    const server = await startPostgres({ port, password: administrator });
    onTestFinished(() => server.remove());
    // The server of the tests has it already.
    await server.query('drop role guard');
    const env = { ...process.env, PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'postgres' };
    const commands = guideCommands('sh');
    expect(commands).toHaveLength(2);
    for (const command of commands) {
      const line = command.replace(/^sudo -u postgres /, '').replace(/\b(create\w+)/, '/usr/bin/env $1');
      // Without a terminal the programs read the passwords from their input.
      const child = spawn('setsid', ['-w', 'sh', '-c', line], {
        env: { ...env, PGPASSWORD: administrator },
        stdio: 'pipe',
      });
      child.stdin.end(`${own}\n${own}\n`);
      const outcome = await waitForOutcome(child);
      expect(outcome.status, outcome.stderr).toBe(0);
    }

    const [json = ''] = guideCommands('json');
    const { database } = JSON.parse(json) as { database: string };
    const connector = await fakeConnector();
    const dataDir = await dataFolderFor(
      connector,
      {},
      { database: database.replace('db.example.com', `127.0.0.1:${port}`) },
    );
    await writeFile(join(dataDir, 'database.password'), `${own}\n`, { mode: 0o600 });
    const guard = await runningGuard(dataDir);
    const { http } = await callApi(guard.url, '/disable-xml-rpc', { body: JSON.stringify({ disable_xml_rpc: 0 }) });
    expect(http).toBe(200);
    expect(await server.query('select name from settings', [], 'guard')).toEqual([{ name: 'disable_xml_rpc' }]);
  });
});
