import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { attach } from '@security-optimizer/guard/testing';
import { findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { median, percentile } from '../load/statistics.js';
import { logInOwner, type OwnerSession } from '../load/wp-admin.js';
import { guessPasswords } from '../load/wrk.js';
import type { Bench, Measure } from '../measure.js';
import { type Line, line } from '../report/report.js';
import { serve } from '../rivals/guard.js';
import { SITE_HOST, wordpress } from '../rivals/wordpress.js';

const ADDRESSES = 10_000;
/** Failed logins after which an address is locked out: guard's default. */
const ATTEMPTS = 5;
const ATTACK_SECONDS = 60;
/** Length of the quiet period before the attack, and of the one after it. */
const QUIET_SECONDS = 30;
/** Time after which an attack has no effect any more. */
const SETTLE_MS = 12_000;
const POLICY_MS = 3000;
const counter = fileURLToPath(new URL('../../php/count-checks.php', import.meta.url));

/** The owner's response times during a botnet's password guessing, and the number of guesses that reach PHP. */
export const guessing: Measure = {
  id: 'p5',
  title: '10,000 addresses guess passwords while the owner works',
  async run(bench) {
    const { owner, guard, counted } = await prepare(bench);
    await owner.loadPages(10);
    bench.log('p5: quiet');
    const before = await owner.loadPages(QUIET_SECONDS);
    bench.log(`p5: ${ATTACK_SECONDS} s of guesses`);
    const [{ during, logIn }, guesses] = await Promise.all([
      measureAttack(owner),
      guessPasswords({ url: `${guard.url}/`, host: SITE_HOST, seconds: ATTACK_SECONDS, addresses: ADDRESSES }),
    ]);
    const checks = await counted('checks');
    const forms = await counted('forms');
    await sleep(SETTLE_MS);
    bench.log('p5: quiet again');
    const quiet = [...before, ...(await owner.loadPages(QUIET_SECONDS))];
    owner.close();
    const share = (times: number[]) => percentile(times, 0.95);
    const pages = (what: string, pick: (times: number[]) => number) => ({
      ...{ measure: 'p5', what: `${what} of the owner's pages during the attack`, value: pick(during), unit: 'ms' },
      rival: { name: 'quiet', value: pick(quiet), ratio: pick(during) / pick(quiet) },
    });
    const plain = (what: string, value: number, unit: string): Line => line({ measure: 'p5', what, value, unit });
    return [
      line({ ...pages('p95', share), bar: { of: 'ratio', is: 'at most', limit: 1.5 } }),
      line(pages('p50', median)),
      plain("the owner's pages", during.length, ''),
      plain('login of a browser that has logged in before, during the attack', logIn, 'ms'),
      plain('guesses', guesses.perSecond, '/s'),
      plain('guesses that reached WordPress', forms, ''),
      line({
        ...{ measure: 'p5', what: 'passwords that WordPress checked', value: checks, unit: '' },
        bar: { of: 'value', is: 'at most', limit: ADDRESSES * ATTEMPTS },
      }),
    ];
  },
};

/** The owner's requests during the attack. */
async function measureAttack(owner: OwnerSession): Promise<{ during: number[]; logIn: number }> {
  await sleep(1000);
  const during = await owner.loadPages(ATTACK_SECONDS - 10);
  return { during, logIn: await owner.logInAgain() };
}

async function prepare(bench: Bench) {
  const { stack } = await wordpress(bench);
  const dataDir = join(bench.dir, 'guard-guessing');
  await attach({
    wordpressDir: stack.wordpressDir,
    upstream: stack.upstream,
    listen: { host: '127.0.0.1', port: await findFreePort() },
    dataDir,
    trustedProxies: ['127.0.0.1'],
    requireGuard: 'force',
  });
  const content = join(stack.wordpressDir, 'wp-content');
  await mkdir(join(content, 'mu-plugins'), { recursive: true });
  await copyFile(counter, join(content, 'mu-plugins/count-checks.php'));
  const guard = await serve(bench, dataDir);
  const headers = { Host: SITE_HOST, 'X-Forwarded-For': '192.0.2.10' };
  const { user, password } = stack;
  // The first response tells guard that the connector has no policy yet, and guard sends it.
  await fetch(guard.url, { headers: { 'X-Forwarded-For': '192.0.2.10' }, redirect: 'manual' });
  await sleep(POLICY_MS);
  const owner: OwnerSession = await logInOwner({ url: guard.url, headers, user, password });
  bench.stopAtEnd({ stop: async () => owner.close() });
  const count = async (what: 'checks' | 'forms') =>
    (await readFile(join(content, `bench-${what}.txt`), 'utf8').catch(() => '')).length;
  if ((await count('checks')) !== 1 || (await count('forms')) !== 1) throw new Error('the counter does not count');
  // The owner logs in twice: now, and during the attack.
  return { owner, guard, counted: async (what: 'checks' | 'forms') => (await count(what)) - 2 };
}
