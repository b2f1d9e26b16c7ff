import { once } from 'node:events';
import { appendFileSync, chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { Service } from '@security-optimizer/sandbox/lib/service';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { sendUpstream } from '../../http/request.js';
import { guardLog, policyPushed, securityOptimizer, startGuard, stopGuard } from '../../stacks/guard-process.js';
import { removeLayouts } from '../../stacks/layouts.js';
import type { Stack } from '../../stacks/stack.js';
import {
  attachAgain,
  attachAnew,
  HOST,
  installSite,
  readStatus,
  type SiteBehind,
  startNginx,
  visit,
} from './site-behind.js';

/** Page caches behind guard, which respond before the connector: the cost of a hit, and hits that bypass guard. */

const MINUTES = 60_000;
const stack = inject('stacks').find((one): one is Stack => one.kind === 'nginx-defaults' && !('problem' in one));

/** An address at which other machines reach this one; undefined if there is none. */
const own = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

/** A page cache like the common ones, which stores pages in files with their headers. */
const DROP_IN = `<?php
$https = isset( $_SERVER['HTTPS'] ) && 'on' === $_SERVER['HTTPS'] ? 'https' : 'http';
define( 'DROP_IN_FILE', WP_CONTENT_DIR . '/cache/pages/' . md5( $https . $_SERVER['HTTP_HOST'] . $_SERVER['REQUEST_URI'] ) );
if ( 'GET' === $_SERVER['REQUEST_METHOD'] && empty( $_COOKIE ) && '/' === $_SERVER['REQUEST_URI'] ) {
  if ( is_file( DROP_IN_FILE ) ) {
    $kept = json_decode( file_get_contents( DROP_IN_FILE ), true );
    array_map( 'header', $kept['headers'] );
    header( 'X-Cache: HIT' );
    echo $kept['page'];
    exit;
  }
  header( 'X-Cache: MISS' );
  ob_start( function ( $page ) {
    if ( 200 === http_response_code() ) {
      file_put_contents( DROP_IN_FILE, json_encode( array( 'headers' => headers_list(), 'page' => $page ) ) );
    }
    return $page;
  } );
}
`;

describe.skipIf(stack === undefined)('a page cache behind guard', { timeout: 5 * MINUTES }, () => {
  const dir = join((stack as Stack | undefined)?.dir ?? '', 'page-caches');
  const starts = join(dir, 'starts');
  let site: SiteBehind;
  let web: Service | undefined;

  beforeAll(async () => {
    site = await installSite(stack as Stack, dir, 'pagecaches');
    mkdirSync(join(site.wordpressDir, 'wp-content/cache/pages'), { recursive: true });
    const config = join(site.wordpressDir, 'wp-config.php');
    const count = `file_put_contents( '${starts}', ( $_SERVER['REQUEST_URI'] ?? '' ) . "\\n", FILE_APPEND );`;
    const text = readFileSync(config, 'utf8');
    writeFileSync(config, text.replace('<?php\n', `<?php\n${count}\ndefine( 'WP_CACHE', true );\n`));
    appendFileSync(starts, '');
    chmodSync(starts, 0o666);
  }, 5 * MINUTES);
  afterEach(async () => {
    await stopGuard(site);
    await web?.stop();
    web = undefined;
    rmSync(join(dir, 'cache'), { recursive: true, force: true });
  });
  afterAll(() => removeLayouts(dir));

  /** Returns and clears the requests for which PHP was started. */
  const drainPhpStarts = (): readonly string[] => {
    const lines = readFileSync(starts, 'utf8').split('\n').slice(0, -1);
    writeFileSync(starts, '');
    return lines;
  };

  const CACHES = ['nginx', 'a drop-in of a plugin'] as const;

  /**
   * Starts the web server with the guide's example, and guard, which is required.
   *
   * @param everywhere listens on all addresses
   */
  async function begin(cache: (typeof CACHES)[number], everywhere: boolean): Promise<void> {
    const pages = join(site.wordpressDir, 'wp-content/cache/pages');
    rmSync(pages, { recursive: true, force: true });
    mkdirSync(pages);
    const dropIn = join(site.wordpressDir, 'wp-content/advanced-cache.php');
    writeFileSync(dropIn, cache === 'nginx' ? '<?php\n' : DROP_IN);
    await startWeb(cache, everywhere);
    await attachAnew(site, [HOST]);
    expect(await attachAgain(site, ['--require-guard', '--force'])).toMatchObject({ code: 0 });
    await startGuard(site);
    await policyPushed(site);
  }

  async function startWeb(cache: (typeof CACHES)[number], everywhere: boolean): Promise<void> {
    await web?.stop();
    web = await startNginx(site, {
      example: cache === 'nginx' ? 'nginx-wordpress-cache.conf' : 'nginx-wordpress.conf',
      change: (text) => (everywhere ? text.replace('listen 127.0.0.1:', 'listen ') : text),
    });
  }

  const pastGuard = async (headers: Readonly<Record<string, string>> = {}) => {
    const response = await sendUpstream(site, { target: '/', headers: { host: HOST, ...headers } });
    return [response.status, response.headers['x-cache']];
  };
  const BY_HTTPS = { 'x-forwarded-proto': 'https' };

  describe('has the same cost as without guard', () => {
    it.each(CACHES)(
      'a hit in the cache of %s starts as much PHP as without guard, and is not mistaken for a missing connector',
      async (cache) => {
        await begin(cache, false);
        expect((await visit(site, '/')).headers['x-cache']).toBe('MISS');
        // The cached page keeps the signal of the first request.
        const cached = await sendUpstream(site, { target: '/', headers: { host: HOST, ...BY_HTTPS } });
        expect([cached.status, cached.headers['x-cache']]).toEqual([200, 'HIT']);
        expect(cached.headers['x-security-optimizer-signal']).toMatch(/^1 [0-9a-f]{8} [0-9a-f]{16} /);
        drainPhpStarts();
        const begun = Date.now();
        for (let time = 0; time < 8; time++) {
          for (let hit = 0; hit < 5; hit++) {
            const page = await visit(site, '/');
            expect([page.status, page.headers['x-cache']]).toEqual([200, 'HIT']);
            expect(page.headers['x-security-optimizer-signal']).toBeUndefined();
          }
          await new Promise((resolve) => setTimeout(resolve, 2000));
        }
        const started = drainPhpStarts();
        // The drop-in itself is PHP; nginx needs none.
        expect(started.filter((target) => target === '/').length).toBe(cache === 'nginx' ? 0 : 40);
        const rounds = 1 + Math.ceil((Date.now() - begun) / 30_000);
        expect(started.filter((target) => target.includes('/hello')).length).toBeLessThanOrEqual(rounds);
        const { problems, sites } = await readStatus(site);
        expect(problems).toEqual([]);
        expect(sites).toMatchObject([{ connector: 'ok' }]);
        const wrong = ['connector-missing', 'connector-other-secret', 'wordpress-unreachable'];
        expect(guardLog(site).filter(({ event }) => wrong.includes(String(event)))).toEqual([]);
      },
    );
  });

  describe('serves clients that bypass guard', () => {
    it.skipIf(own === undefined).each(CACHES)(
      'from the cache of %s: status detects that and names a fix, which works',
      async (cache) => {
        await begin(cache, true);
        const cold = [await pastGuard(), await pastGuard(BY_HTTPS)];
        expect(cold.map(([status]) => status)).toEqual([403, 403]);
        const open = await readStatus(site);
        const address = `${own}:${site.upstreamPort}`;
        expect(open.sites).toMatchObject([{ connector: 'ok', cachePastGuard: address }]);
        expect(open.problems).toEqual([]);
        const warnings = open.warnings.filter((text) => text.includes('page cache behind guard answers'));
        expect(warnings).toEqual([expect.stringMatching(/who asks \S+ gets pages.*127\.0\.0\.1 or a socket file/)]);
        expect(await requestAt(own as string, site.upstreamPort)).toEqual([200, 'HIT']);
        expect(await directRequests()).toMatchObject({ state: 'warning', message: expect.stringContaining(address) });

        await startWeb(cache, false);
        expect(await pastGuard(BY_HTTPS)).toEqual([200, 'HIT']);
        await expect(requestAt(own as string, site.upstreamPort)).rejects.toThrow('ECONNREFUSED');
        const closed = await readStatus(site);
        expect(closed.sites).toMatchObject([{ cachePastGuard: null }]);
        expect(closed.warnings.join()).not.toContain('page cache');
        expect(await directRequests()).toMatchObject({ state: 'ok' });
      },
    );

    it.skipIf(own === undefined)('only if there is a cache: without one, status reports nothing', async () => {
      await begin('nginx', true);
      await web?.stop();
      web = await startNginx(site, { change: (text) => text.replace('listen 127.0.0.1:', 'listen ') });
      const { sites, warnings } = await readStatus(site);
      expect(sites).toMatchObject([{ connector: 'ok', cachePastGuard: null }]);
      expect(warnings.join()).not.toContain('page cache');
    });
  });

  /** Requests a page from the web server behind at another address of this machine, as a visitor with https. */
  async function requestAt(host: string, port: number): Promise<readonly unknown[]> {
    const request = get({ host, port, path: '/', agent: false, headers: { host: HOST, ...BY_HTTPS } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    return [response.statusCode, response.headers['x-cache']];
  }

  async function directRequests() {
    const [id] = (await readStatus(site)).sites.map((each) => (each as unknown as { id: string }).id);
    const output = await securityOptimizer('doctor', id as string, '--data-dir', site.guardDir, '--json');
    return (JSON.parse(output.stdout) as { check: string }[]).find(({ check }) => check === 'direct-requests');
  }
});
