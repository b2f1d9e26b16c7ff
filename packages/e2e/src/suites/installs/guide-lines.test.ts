import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Service } from '@security-optimizer/sandbox/lib/service';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { policyPushed, startGuard, stopGuard } from '../../stacks/guard-process.js';
import { removeLayouts } from '../../stacks/layouts.js';
import type { Stack } from '../../stacks/stack.js';
import { guideBlocks } from './helpers.js';
import {
  attachAnew,
  HOST,
  installSite,
  MOD_PHP,
  readStatus,
  type SiteBehind,
  startApache,
  startNginx,
  visit,
} from './site-behind.js';

/** The lines of the guide for an existing web server behind guard: how it sees visitors without them and with them. */

const MINUTES = 60_000;
const stack = inject('stacks').find((one): one is Stack => one.kind === 'nginx-defaults' && !('problem' in one));
const hasApache = spawnSync('apache2', ['-v']).error === undefined;
/** `Require local` means all of 127.0.0.0/8. */
const VISITOR = '203.0.113.95';

/** The values that the web server passes to PHP, before WordPress and the connector run. */
const SHOW_CLIENT = `<?php echo json_encode( array( $_SERVER['REMOTE_ADDR'], $_SERVER['HTTPS'] ?? 'none' ) );`;

/** Rules that run before the connector: by address and by scheme, with and without the guide's lines. */
interface Lines {
  readonly address: string;
  readonly scheme: string;
}

interface Kind {
  readonly name: string;
  readonly isInstalled: boolean;
  readonly language: 'nginx' | 'apache';
  /** A page that only the machine itself may request, by a rule of the server. */
  readonly page: string;
  readonly start: (site: SiteBehind, lines: Lines) => Promise<Service>;
}

/** The usual server of a WordPress, as many have it, moved to loopback. */
function nginxServer(site: SiteBehind, { address, scheme }: Lines): string {
  // "The `map` stands outside of `server`, the other line beside `include fastcgi.conf`."
  const [outside = '', beside = ''] = scheme.split(/^(?=fastcgi_param )/m);
  return `${outside}
server {
  listen 127.0.0.1:${site.upstreamPort};
  server_name ${HOST};
  ${address}
  root ${site.wordpressDir};
  index index.php;
  location = /nginx_status { stub_status; allow 127.0.0.1; deny all; }
  location / {
    try_files $uri $uri/ /index.php?$args;
  }
  location ~ \\.php$ {
    include /etc/nginx/fastcgi.conf;
    ${beside}
    fastcgi_pass unix:${site.php};
  }
}
`;
}

function apacheServer(site: SiteBehind, php: 'fpm' | 'mod_php', { address, scheme }: Lines): string {
  const handler = php === 'fpm' ? `proxy:unix:${site.php}|fcgi://localhost` : 'application/x-httpd-php';
  return `Listen 127.0.0.1:${site.upstreamPort}
<VirtualHost 127.0.0.1:${site.upstreamPort}>
  ServerName ${HOST}
  ${address}
  ${scheme}
  DocumentRoot ${site.wordpressDir}
  DirectoryIndex index.php
  <Directory ${site.wordpressDir}>
    Require all granted
    AllowOverride All
  </Directory>
  <FilesMatch "\\.php$">
    SetHandler "${handler}"
  </FilesMatch>
  <Location /server-status>
    SetHandler server-status
    Require local
  </Location>
</VirtualHost>
`;
}

const onApache =
  (php: 'fpm' | 'mod_php'): Kind['start'] =>
  (site, lines) =>
    startApache(site, { php, modules: ['authz_host', 'status'], change: () => apacheServer(site, php, lines) });

const KINDS: readonly Kind[] = [
  {
    ...{ name: 'nginx', isInstalled: existsSync('/etc/nginx/fastcgi.conf'), language: 'nginx', page: '/nginx_status' },
    start: (site, lines) => startNginx(site, { change: () => nginxServer(site, lines) }),
  },
  {
    ...{ name: 'Apache with PHP-FPM', isInstalled: hasApache, language: 'apache', page: '/server-status' },
    start: onApache('fpm'),
  },
  {
    ...{ name: 'Apache with mod_php', isInstalled: hasApache && existsSync(MOD_PHP), language: 'apache' },
    ...{ page: '/server-status', start: onApache('mod_php') },
  },
];

describe.skipIf(stack === undefined)(
  'the lines of the guide, in an existing server block',
  { timeout: 5 * MINUTES },
  () => {
    const dir = join((stack as Stack | undefined)?.dir ?? '', 'guide-lines');
    let site: SiteBehind;
    let web: Service | undefined;

    beforeAll(async () => {
      site = await installSite(stack as Stack, dir, 'guidelines');
      writeFileSync(join(site.wordpressDir, 'told.php'), SHOW_CLIENT);
      mkdirSync(join(dir, 'tmp'), { recursive: true });
      chmodSync(join(dir, 'tmp'), 0o777);
    }, 5 * MINUTES);
    afterEach(async () => {
      await stopGuard(site);
      await web?.stop();
      web = undefined;
    });
    afterAll(() => removeLayouts(dir));

    const begin = async (service: Promise<Service>) => {
      web = await service;
      await attachAnew(site, [HOST]);
      await startGuard(site);
      await policyPushed(site);
    };
    const byVisitor = { headers: { 'x-forwarded-for': VISITOR } };
    const readServerValues = async (scheme: 'http' | 'https') =>
      JSON.parse((await visit(site, '/told.php', scheme, byVisitor)).body) as unknown;
    const readVisitorChecks = async () => {
      const { sites, problems } = await readStatus(site);
      expect(problems).toEqual([]);
      return { visitors: sites[0]?.visitors, openPages: sites[0]?.openPages.map(({ path }) => path) };
    };

    describe.each(KINDS)('$name', ({ isInstalled, language, page, start }) => {
      const [address = '', ...moreOfAddress] = guideBlocks("Each visitor's address", language);
      const [scheme = '', , ...moreOfScheme] = guideBlocks('The visitor’s scheme', language);

      it.skipIf(!isInstalled)('without them, sees guard as every client, and http as the scheme', async () => {
        await begin(start(site, { address: '', scheme: '' }));
        expect(await readServerValues('https')).toEqual(['127.0.0.1', 'none']);
        expect((await visit(site, page, 'https', byVisitor)).status).toBe(200);
        expect(await readVisitorChecks()).toEqual({ visitors: 'hidden', openPages: [page] });
      });

      it.skipIf(!isInstalled)(
        'with them, sees each visitor and the scheme, and closes pages for the machine itself',
        async () => {
          expect([moreOfAddress, moreOfScheme]).toEqual([[], []]);
          await begin(start(site, { address, scheme }));
          expect([await readServerValues('https'), await readServerValues('http')]).toEqual([
            [VISITOR, 'on'],
            [VISITOR, 'none'],
          ]);
          const forged = { headers: { 'x-forwarded-for': `127.0.0.1, ${VISITOR}`, 'x-real-ip': '127.0.0.1' } };
          for (const how of [byVisitor, forged]) expect((await visit(site, page, 'https', how)).status).toBe(403);
          expect((await visit(site, '/', 'https', byVisitor)).status).toBe(200);
          expect(await readVisitorChecks()).toEqual({ visitors: 'seen', openPages: [] });
          expect(readFileSync(join(dir, 'logs/web.log'), 'utf8')).not.toMatch(/\[(?:emerg|alert)\]|Syntax error/);
        },
      );
    });
  },
);
