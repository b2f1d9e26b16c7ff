import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { groups } from '../../attacks/attack.js';
import { attacks } from '../../attacks/lists/index.js';
import { unattacked } from '../../attacks/lists/spellings.js';
import { type AttackResult, runAttacks } from '../../attacks/run.js';
import { AttackedSite } from '../../attacks/site.js';
import { sendRequest } from '../../http/request.js';
import { allOptions, logIn, type Session, setOptions } from '../../http/session.js';
import { onUnlikeStacks, onUsualStack, type Stack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { change, recover } from '../login/helpers.js';

const LIMIT = 5;
const LOGIN_SLUG = 'quiet-door';
const MINUTES = 60_000;

/** The failures, and the reasons why others did not run, as in the table. */
function faults(results: readonly AttackResult[]): string[] {
  return results
    .filter(({ ok }) => ok === false)
    .map(({ group, attack, expected, got, twin }) => `${group}: ${attack}: expected ${expected}, got ${got}; ${twin}`);
}
function reasons(results: readonly AttackResult[]): string[] {
  return [...new Set(results.filter(({ ok }) => ok === null).map(({ got }) => got))].sort();
}

const about = (stack: Stack) => ({
  ...{ url: stack.url, origin: `http://127.0.0.1:${stack.upstreamPort}`, manyAddresses: true },
  owner: { login: stack.user, password: stack.password },
});

async function resetSite(stack: Stack): Promise<void> {
  await recover(stack, 'unblock', '--all');
  await recover(stack, 'login-url', 'reset');
  // WordPress gets the setting a moment after guard, and hides the form until then.
  await until('the form', async () =>
    (await sendRequest(stack, { target: '/wp-login.php' })).body.includes('loginform'),
  );
}

onUnlikeStacks('every known attack on a site with all protections on and its login hidden', (stack) => {
  let site: AttackedSite;

  beforeAll(async () => {
    const owner = await logIn(stack);
    await setOptions(stack, owner, allOptions(1));
    await change(stack, owner, '/limit-login-attempts', { login_attempts: LIMIT });
    await change(stack, owner, '/custom-login-url', { type: 'custom', login: LOGIN_SLUG, signup: 'quiet-entry' });
    site = await AttackedSite.meet({ ...about(stack), loginUrl: `/${LOGIN_SLUG}` });
  });
  afterAll(() => resetSite(stack));

  it.each(groups)(
    'fails, and its legitimate counterpart works: %s',
    async (group) => {
      const results = await runAttacks(site, { groups: [group] });
      expect(faults(results)).toEqual([]);
      expect(results.filter(({ ok }) => ok === true).length).toBeGreaterThan(0);
      const states = { 'second factor': ['the owner has none'], passwords: ['XML-RPC is off'] };
      expect(reasons(results)).toEqual(states[group as keyof typeof states] ?? []);
    },
    5 * MINUTES,
  );
});

onUnlikeStacks('every known attack on passwords, with XML-RPC open and the login where WordPress has it', (stack) => {
  let owner: Session;

  beforeAll(async () => {
    owner = await logIn(stack);
    await setOptions(stack, owner, { ...allOptions(1), disable_xml_rpc: 0 });
    await change(stack, owner, '/limit-login-attempts', { login_attempts: LIMIT });
  });
  afterAll(async () => {
    await change(stack, owner, '/2fa', { sg2fa: 0 });
    await setOptions(stack, owner, allOptions(1));
    await resetSite(stack);
  });

  it(
    'fails without a second factor',
    async () => {
      const site = await AttackedSite.meet(about(stack));
      const results = await runAttacks(site, { groups: ['passwords'] });
      expect(faults(results)).toEqual([]);
      expect(reasons(results)).toEqual([]);
    },
    5 * MINUTES,
  );

  it(
    'gets no session with a second factor',
    async () => {
      await recover(stack, 'unblock', '--all');
      await change(stack, owner, '/2fa', { sg2fa: 1 });
      const site = await AttackedSite.meet(about(stack));
      const results = await runAttacks(site, { groups: ['second factor'] });
      expect(faults(results)).toEqual([]);
      expect(reasons(results)).toEqual([]);
    },
    5 * MINUTES,
  );
});

onUsualStack('npm run attack', attackProgram, { timeout: 10 * MINUTES });

function attackProgram(stack: Stack): void {
  const program = fileURLToPath(new URL('../../../../../scripts/run.mjs', import.meta.url));
  const run = async (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> => {
    const env = { ...process.env, SECURITY_OPTIMIZER_OWNER_PASSWORD: stack.password };
    try {
      return {
        code: 0,
        ...(await promisify(execFile)(process.execPath, [program, 'attack', ...args], { env, timeout: 4 * MINUTES })),
      };
    } catch (error) {
      const failed = error as { code: number; stdout: string; stderr: string };
      return { code: failed.code, stdout: failed.stdout, stderr: failed.stderr };
    }
  };

  beforeAll(async () => setOptions(stack, await logIn(stack), allOptions(1)));

  it('shows a table and ends with 0 when every attack fails', async () => {
    const { code, stdout } = await run('--url', stack.url, '--only', 'legitimate traffic');
    expect(stdout).toMatch(/^attack +expected +got +twin +ok$/m);
    expect(stdout).toMatch(/^an ambiguous page +400 +400 +a page: 200 +yes$/m);
    expect(stdout).toMatch(/^\d+ held, 0 failed, 0 not run$/m);
    expect(code).toBe(0);
  });

  it('ends with 1 and names the attack when one gets through', async () => {
    await setOptions(stack, await logIn(stack), { wp_remove_version: 0 });
    const args = ['--url', stack.url, '--only', 'spellings', '--expect', 'version=off', '--json'];
    const { code, stdout } = await run(...args);
    await setOptions(stack, await logIn(stack), { wp_remove_version: 1 });
    const { failed, results } = JSON.parse(stdout) as { failed: number; results: AttackResult[] };
    expect(code).toBe(1);
    expect(failed).toBeGreaterThan(0);
    expect(results.filter(({ ok }) => ok === false).map(({ attack }) => attack)).toContain('the version at /');
    expect(results.filter(({ ok, attack }) => ok === false && !/version|license/.test(attack))).toEqual([]);
  });

  it('detects by requests which options are on', async () => {
    const { stderr } = await run('--url', stack.url, '--only', 'legitimate traffic');
    for (const field of [
      'disable_xml_rpc',
      'disable_feed',
      'lock_system_folders',
      'wp_remove_version',
      'xss_protection',
    ]) {
      expect(stderr).toContain(`${field}: yes`);
    }
    await setOptions(stack, await logIn(stack), { disable_xml_rpc: 0, disable_feed: 0 });
    const other = await run('--url', stack.url, '--only', 'legitimate traffic');
    await setOptions(stack, await logIn(stack), allOptions(1));
    expect(other.stderr).toMatch(/disable_xml_rpc: no .*\n/);
    expect(other.stderr).toContain('XML-RPC open: yes');
    expect(other.stderr).toMatch(/disable_feed: no /);
  });

  it.each([
    ['a site that belongs to others', ['--url', 'http://192.0.2.1'], /Attack only what is yours/],
    ['a path', ['--url', `${stack.url}/blog`], /without a path/],
    ['no address', [], /--url/],
    ['an unknown group', ['--url', stack.url, '--only', 'everything'], /there is no everything/],
    ['an unknown state', ['--url', stack.url, '--expect', 'xmlrpc=maybe'], /NAME=on or NAME=off/],
    [
      'guesses that would lock out the user who runs it',
      ['--url', 'http://192.0.2.1', '--i-own-this-site', '--only', 'passwords'],
      /--may-lock-me-out/,
    ],
  ])('does not start with %s', async (_what, args, message) => {
    const { code, stderr } = await run(...args);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });
}

describe('the list of attacks', () => {
  it('has unique names, and covers every group and every protection', () => {
    const names = attacks.map(({ group, name }) => `${group}: ${name}`);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    expect(groups.filter((group) => !attacks.some((attack) => attack.group === group))).toEqual([]);
    expect(unattacked).toEqual([]);
  });
});
