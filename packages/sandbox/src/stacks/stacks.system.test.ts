import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRecord } from '@security-optimizer/sandbox/lib/process-record';
import { findNativePhpProblem } from '@security-optimizer/sandbox/php/native';
import { type RunningWordPress, startEmbeddedWordPress } from '@security-optimizer/sandbox/stacks/embedded';
import { findProductionStackProblem, startProductionStack } from '@security-optimizer/sandbox/stacks/production';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addressCases, get } from '../../test/support/addresses.js';
import { readCommandLine } from '../../test/support/process-table.js';

const siteUrl = 'http://127.0.0.1:8999';
const log = () => {};

type Stack = Pick<RunningWordPress, 'upstream' | 'user' | 'password' | 'wordpressDir' | 'stop'>;

interface StackCase {
  readonly name: string;
  readonly problem: string | null;
  /** Pid files that the stack keeps while it runs. */
  readonly pidFiles: readonly string[];
  readonly start: (dir: string) => Promise<Stack>;
}

const stacks: readonly StackCase[] = [
  {
    name: "the system's PHP",
    problem: await findNativePhpProblem(),
    pidFiles: ['php'],
    start: (dir) => startEmbeddedWordPress({ dataDir: dir, php: 'native', siteUrl, log }),
  },
  {
    name: 'PHP in WebAssembly',
    problem: null,
    pidFiles: ['php'],
    start: (dir) => startEmbeddedWordPress({ dataDir: dir, php: 'wasm', siteUrl, log }),
  },
  {
    name: 'nginx, PHP-FPM and MariaDB',
    problem: findProductionStackProblem(),
    pidFiles: ['nginx', 'php-fpm', 'mariadb'],
    start: (dir) => startProductionStack({ dir, siteUrl }),
  },
];

for (const { name, problem } of stacks) {
  if (problem !== null) process.stderr.write(`WordPress on ${name} is not tested: ${problem}\n`);
}

describe.each(stacks.filter((stack) => stack.problem === null))('WordPress on $name', ({ start, pidFiles }) => {
  let dir: string;
  let stack: Stack;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'stack-'));
    stack = await start(dir);
  }, 300_000);

  afterAll(async () => {
    await stack?.stop();
    rmSync(dir, { recursive: true, force: true });
  }, 120_000);

  it.each(addressCases)(
    'responds to $target with $status',
    async ({ target, status, type, contains }) => {
      const response = await get(stack.upstream, target, { host: '127.0.0.1:8999' });
      expect(response.status).toBe(status);
      if (type !== undefined) expect(response.headers['content-type']).toContain(type);
      if (contains !== undefined) expect(response.body).toContain(contains);
    },
    30_000,
  );

  it('redirects a folder without its slash, keeping the query and naming no port of its own', async () => {
    const response = await get(stack.upstream, '/wp-admin?a=1', { host: '127.0.0.1:8999' });
    expect(response.headers.location).toBe('/wp-admin/?a=1');
  });

  it('sends ranges and validators of static files', async () => {
    const path = '/wp-includes/css/buttons.min.css';
    const complete = await get(stack.upstream, path);
    const part = await get(stack.upstream, path, { range: 'bytes=10-19' });
    expect(part.status).toBe(206);
    expect(part.body).toBe(complete.body.slice(10, 20));
    const again = await get(stack.upstream, path, { 'if-none-match': String(complete.headers.etag) });
    expect([again.status, again.body]).toEqual([304, '']);
  });

  it("lets the owner log in and shows the owner's name in wp-admin", async () => {
    const form = new URLSearchParams({ log: stack.user, pwd: stack.password, testcookie: '1' });
    const login = await fetch(`${stack.upstream}/wp-login.php`, {
      method: 'POST',
      body: form,
      redirect: 'manual',
      headers: { cookie: 'wordpress_test_cookie=WP%20Cookie%20check' },
    });
    expect(login.status).toBe(302);
    const cookie = login.headers
      .getSetCookie()
      .map((text) => text.split(';')[0])
      .join('; ');
    const page = await get(stack.upstream, '/wp-admin/profile.php', { cookie, host: '127.0.0.1:8999' });
    expect(page.status).toBe(200);
    expect(page.body).toContain('owner@example.com');
  }, 120_000);

  it('runs a page that asks the site itself for another page', async () => {
    const code =
      "<?php echo 'asked: ', substr_count(file_get_contents($_GET['origin'] . '/wp-login.php'), 'user_login');";
    writeFileSync(join(stack.wordpressDir, 'ask-itself.php'), code);
    const response = await get(stack.upstream, `/ask-itself.php?origin=${stack.upstream}`);
    expect(response.body).toMatch(/^asked: [1-9]/);
  }, 120_000);

  it('serves parallel logins, each of which writes to the database', async () => {
    const logIn = async () => {
      const form = new URLSearchParams({ log: stack.user, pwd: stack.password });
      const response = await fetch(`${stack.upstream}/wp-login.php`, {
        method: 'POST',
        body: form,
        redirect: 'manual',
      });
      return response.status;
    };
    const statuses = await Promise.all(Array.from({ length: 12 }, logIn));
    expect(statuses).toEqual(Array.from({ length: 12 }, () => 302));
  }, 120_000);

  it('keeps mail as files instead of sending it', async () => {
    const form = new URLSearchParams({ user_login: stack.user });
    const url = `${stack.upstream}/wp-login.php?action=lostpassword`;
    const response = await fetch(url, { method: 'POST', body: form, redirect: 'manual' });
    expect(response.headers.get('location')).toContain('checkemail=confirm');
    const mails = readdirSync(join(dir, 'mail')).map((name) => readFileSync(join(dir, 'mail', name), 'utf8'));
    expect(mails.filter((text) => text.includes('Password Reset'))).toHaveLength(1);
  }, 120_000);

  it('keeps the password for its user only, and the same at the next start, with no process left between', async () => {
    const pids = pidFiles.map((file) => readRecord(join(dir, 'run', `${file}.json`))?.pid ?? 0);
    for (const pid of pids) expect(readCommandLine(pid)).not.toBeNull();
    await stack.stop();
    for (const pid of pids) expect(readCommandLine(pid)).toBeNull();
    expect(statSync(join(dir, 'owner.json')).mode & 0o777).toBe(0o600);

    const before = stack.password;
    stack = await start(dir);
    expect(stack.password).toBe(before);
    expect((await get(stack.upstream, '/wp-login.php', { host: '127.0.0.1:8999' })).status).toBe(200);
  }, 120_000);

  it('does not put the password into any file that the web server sends', async () => {
    expect(readFileSync(join(stack.wordpressDir, 'wp-config.php'), 'utf8')).not.toContain(stack.password);
    const config = await get(stack.upstream, '/wp-config.php');
    expect(config.body).toBe('');
  });
});
