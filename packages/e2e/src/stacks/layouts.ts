import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { attach } from '@security-optimizer/guard/testing';
import { answersHttp, findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { type Service, startService } from '@security-optimizer/sandbox/lib/service';
import { createPhpRunner } from '@security-optimizer/sandbox/php/native';
import { findPrograms } from '@security-optimizer/sandbox/stacks/programs';
import { replaceSiteUrl } from '@security-optimizer/sandbox/wordpress/config-file';
import { installWordPress } from '@security-optimizer/sandbox/wordpress/install';
import { policyPushed, startGuard, stopGuard } from './guard-process.js';
import type { OddSite } from './odd-install.js';
import type { Stack } from './stack.js';

/** Folders and files of a WordPress that belong to one site. */
const OF_A_SITE = new Set(['wp-config.php', 'wp-content/mu-plugins', 'wp-content/uploads', 'wp-content/upgrade']);

/** Creates a WordPress tree from that of a stack, with hard links, which is fast. */
export function makeTree(stack: Stack, dir: string, below = ''): void {
  mkdirSync(join(dir, below), { recursive: true });
  for (const entry of readdirSync(join(stack.wordpressDir, below), { withFileTypes: true })) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (OF_A_SITE.has(name)) continue;
    if (entry.isDirectory()) makeTree(stack, dir, name);
    else linkSync(join(stack.wordpressDir, name), join(dir, name));
  }
}

/** A site among several on one web server, one PHP, one database and one guard. */
export interface LayoutPlan {
  /** Host by which the site is reached. */
  readonly host: string;
  /** The other hosts of the site. */
  readonly otherHosts?: readonly string[];
  /** Root of the web server. */
  readonly root: string;
  /** Folder with wp-load.php. */
  readonly wordpressDir: string;
  readonly configuration: string;
  readonly mode?: number;
  /** Path at which WordPress names its own folder, for example `/wp`; empty when left out. */
  readonly corePath?: string;
  /** Lines of nginx's `server`, in place of the usual `location /`. */
  readonly nginx?: string;
  /** Runs after WordPress is installed and before guard is attached. */
  readonly prepare?: (site: Stack) => Promise<void> | void;
}

export interface Layouts {
  /** Shared by all sites: guard and its log. */
  readonly guard: Stack;
  /** The sites, by their hosts. */
  readonly sites: ReadonlyMap<string, OddSite>;
  readonly stop: () => Promise<void>;
}

const USUAL = 'location / { try_files $uri $uri/ /index.php?$args; }';

/** The rewrite rules of a subdirectory network, as in WordPress's documentation for nginx. */
export const NETWORK_IN_FOLDERS = `if (!-e $request_filename) {
      rewrite /wp-admin$ $scheme://$host$request_uri/ permanent;
      rewrite ^(/[^/]+)?(/wp-.*) $2 last;
      rewrite ^(/[^/]+)?(/.*\\.php) $2 last;
    }
    ${USUAL}`;

/** The rewrite rules of a network whose WordPress is in the folder `wp`, which the server adds internally. */
export const FOLDER_ADDED_INSIDE = `if (!-e $request_filename) {
      rewrite ^(/[^/]+)?(/wp-.*) /wp$2 last;
      rewrite ^(/[^/]+)?(/.*\\.php) /wp$2 last;
    }
    ${USUAL}`;

/**
 * Starts sites with different layouts on the PHP and the database of a stack, with one web server and one guard for all
 * of them. The trees must exist.
 */
export async function startLayouts(stack: Stack, dir: string, plans: readonly LayoutPlan[]): Promise<Layouts> {
  for (const name of ['logs', 'tmp', 'mail', 'run']) mkdirSync(join(dir, name), { recursive: true });
  const [port, upstreamPort] = [await findFreePort(), await findFreePort()];
  const common = { ...stack, dir, guardDir: join(dir, 'guard'), port, upstreamPort };
  const sites = new Map<string, OddSite>();
  let web: Service | undefined;
  const stop = async () => {
    await stopGuard(common);
    await web?.stop();
  };
  try {
    // Suites on one stack share its database.
    const prefix = basename(dir)
      .replace(/[^a-z]/g, '')
      .slice(0, 12);
    for (const [at, plan] of plans.entries()) {
      const { host, wordpressDir } = plan;
      const text = replaceSiteUrl(readFileSync(join(stack.wordpressDir, 'wp-config.php'), 'utf8'), `http://${host}`);
      const own = text.replace("$table_prefix = 'wp_'", `$table_prefix = '${prefix}${at}_'`);
      writeFileSync(plan.configuration, own, { mode: plan.mode ?? 0o644 });
      const dataDir = join(dir, 'owner', host);
      mkdirSync(dataDir, { recursive: true });
      const runPhp = createPhpRunner(dir);
      const owner = await installWordPress({ wordpressDir, dataDir, siteUrl: `http://${host}`, runPhp });
      const site = { ...common, ...owner, wordpressDir, url: `http://${host}` };
      await plan.prepare?.(site);
      const { corePath = '' } = plan;
      const contentPath = `${corePath}/wp-content`;
      sites.set(host, { ...site, layout: { home: '', core: '' }, corePath, contentPath, stop });
    }
    web = await startNginx(stack, dir, upstreamPort, plans);
    for (const { host, otherHosts = [], wordpressDir } of plans) {
      await attach({
        wordpressDir,
        upstream: `http://127.0.0.1:${upstreamPort}`,
        listen: { host: '127.0.0.1', port },
        dataDir: common.guardDir,
        hosts: [host, ...otherHosts],
        requireGuard: 'force',
      });
    }
    await startGuard(common);
    await policyPushed(common, plans.length);
  } catch (error) {
    await stop();
    throw error;
  }
  return { guard: common, sites, stop };
}

async function startNginx(stack: Stack, dir: string, port: number, plans: readonly LayoutPlan[]): Promise<Service> {
  const programs = findPrograms();
  if (typeof programs === 'string') throw new Error(programs);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path "${dir}/tmp/${kind}";`,
  );
  const servers = plans.map(
    ({ host, otherHosts = [], root, nginx = USUAL }) => `server {
    listen 127.0.0.1:${port};
    server_name ${[host, ...otherHosts].join(' ')};
    root "${root}";
    index index.php;
    ${nginx}
    location ~ [^/]\\.php(/|$) {
      fastcgi_split_path_info ^(.+?\\.php)(/.*)$;
      if (!-f $document_root$fastcgi_script_name) { return 404; }
      include /etc/nginx/fastcgi_params;
      fastcgi_param SCRIPT_FILENAME $realpath_root$fastcgi_script_name;
      fastcgi_param DOCUMENT_ROOT $realpath_root;
      fastcgi_param SERVER_NAME $host;
      fastcgi_param PATH_INFO $fastcgi_path_info;
      fastcgi_pass "unix:${stack.dir}/run/php-fpm.sock";
    }
  }`,
  );
  const user = process.getuid?.() === 0 ? 'user root;\n' : '';
  const file = join(dir, 'nginx.conf');
  writeFileSync(
    file,
    `${user}daemon off;
pid "${dir}/run/nginx.pid";
events {}
http {
  include /etc/nginx/mime.types;
  access_log off;
  server_names_hash_bucket_size 128;
  ${temporary.join('\n  ')}
  ${servers.join('\n  ')}
}
`,
  );
  return startService({
    name: 'nginx',
    command: programs.nginx,
    args: ['-c', file, '-p', dir, '-e', 'stderr'],
    pidFile: join(dir, 'run/nginx.json'),
    logFile: join(dir, 'logs/nginx.log'),
    ready: () => answersHttp(`http://127.0.0.1:${port}/wp-includes/css/buttons.min.css`),
    readySeconds: 90,
  });
}

/** Removes everything that `startLayouts` and the trees created. */
export function removeLayouts(dir: string): void {
  rmSync(dir, { recursive: true, force: true });
}
