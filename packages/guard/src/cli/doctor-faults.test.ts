import { spawnSync } from 'node:child_process';
import { chmod, chown, cp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { runInChild } from '../../test/support/command-line.js';
import {
  type Behind,
  type DoctorSite,
  doctorSite,
  type Front,
  removeTemplate,
  type Setup,
  webServerInFront,
} from '../../test/support/doctor-site.js';
import { freePort } from '../../test/support/front-proxy.js';
import { runningGuard } from '../../test/support/running-guard.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { canMount, mount, unmount } from '../../test/support/small-disk.js';
import { webServer } from '../../test/support/upstream-server.js';
import { canSwitchUsers, GUARD, machine, program } from '../../test/support/users.js';
import { openSqlite } from '../storage/sqlite.js';
import type { DoctorOptions } from './doctor.js';
import { checkDisk } from './doctor-checks.js';
import { checkDatabase } from './doctor-database.js';
import { type CheckName, FINDING_CODES, type Finding, type FindingCode } from './doctor-findings.js';
import { checkPermissions } from './doctor-permissions.js';

/** How a fault is made, and what `doctor` then reports. */
interface Fault {
  /** Makes the fault and examines the site. */
  readonly examine: () => Promise<readonly Finding[]> | readonly Finding[];
  readonly state: 'warning' | 'problem' | 'skipped';
  readonly message: RegExp;
  /** Null where nothing is to be done. */
  readonly advice: RegExp | null;
  readonly needsRoot?: true;
}

/** A user id without an entry in the system's user database. */
const OTHER_USER = 54_321;
const isRoot = process.getuid?.() === 0;
const mounts = canMount();

/** Examines a site with a certain setup. @param change makes the fault at the running site */
const at =
  (
    setup: Setup,
    change: (site: DoctorSite) => unknown = () => undefined,
    options: (site: DoctorSite) => Partial<DoctorOptions> | Promise<Partial<DoctorOptions>> = () => ({}),
  ) =>
  async () => {
    const site = await doctorSite(setup);
    await change(site);
    return site.examine(await options(site));
  };

/** Examines a site through another web server in front. */
const through = (
  front: Front,
  setup: Setup = {},
  toTarget: (site: DoctorSite) => string = ({ guard }) => toUrl(guard),
) => at(setup, undefined, async (site) => webServerInFront(front, toTarget(site)));

const toUrl = ({ host, port }: { readonly host: string; readonly port: number }) => `http://${host}:${port}`;

/** A site whose WordPress has never told guard its address, and does not answer. */
const unknownAddress = at({ stopped: true }, ({ connector }) => connector.close());

/** Has the upstream web server be one that redirects everything. */
async function redirectAll(site: DoctorSite, location: string): Promise<void> {
  const { upstream } = await webServer((_, response) => {
    response.writeHead(302, { location }).end();
    return true;
  });
  await site.configure(({ sites }) => ({ sites: [{ ...sites[0], upstream }] }));
}

/** A web server behind guard that responds with a page. */
const behind = (page: Behind['page'], cache?: Behind['cache']): Setup => ({
  behind: { page, ...(cache !== undefined && { cache }) },
});

const toPage = (body: string, headers: Record<string, string> = {}) => ({
  status: 200,
  headers: { 'content-type': 'text/html', ...headers },
  body,
});

/** A page as WordPress makes it: its styles have the visitor's scheme. */
const styledPage: Behind['page'] = (_, scheme) =>
  toPage(`<link rel="stylesheet" href="${scheme}://example.com/wp-includes/style.css">`);

const classFiles = async ({ plugins }: DoctorSite): Promise<readonly string[]> => {
  const own = join(plugins, 'security-optimizer');
  const classes = (await readdir(own)).find((name) => name.startsWith('includes-')) ?? '';
  return [join(own, classes), join(own, classes, 'class-hooks.php')];
};
const classFolder = async (site: DoctorSite) => (await classFiles(site))[0] as string;
const classFile = async (site: DoctorSite) => (await classFiles(site))[1] as string;
const keyFile = ({ plugins }: DoctorSite) => join(plugins, 'security-optimizer', 'secret.php');

/** Stores a text that is no JSON as a setting of the site. */
async function storeUnusableSetting(dataDir: string): Promise<void> {
  const database = openSqlite(join(dataDir, 'guard.sqlite'), { busyTimeoutMs: 5000 });
  try {
    database.exec(
      "insert into settings (site, name, value, version, updated_at) values ('example-com', 'disable_xml_rpc', 'on', 1, 0)",
    );
  } finally {
    database.close();
  }
}

/** Starts guard at a site whose key is readable by others. */
async function quarantine(site: DoctorSite): Promise<void> {
  await chmod(join(site.dataDir, 'sites', 'example-com.secret'), 0o644);
  await runningGuard(site.dataDir);
}

const smtp = (port: number) => ({ mail: { smtp: { host: '127.0.0.1', port, from: 'guard@example.com' } } });

const MEGABYTE = 1024 * 1024;

/** Examines a site whose data folder is on a disk of this size; null where no disk can be mounted. */
function onDisk(megabytes: number): ReturnType<Fault['examine']> | null {
  if (!mounts) return null;
  return at({ stopped: true }, async ({ dataDir }) => {
    const copy = await scratchFolder();
    await cp(dataDir, copy, { recursive: true });
    mount('-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', dataDir);
    onTestFinished(() => void unmount(dataDir));
    await cp(copy, dataDir, { recursive: true });
  })();
}

/** Examines a site as guard's own user, who may not enter the site's folder. */
async function examineAsGuard(): Promise<readonly Finding[]> {
  const { wordpress, dataDir, attach } = await machine();
  expect(attach()).toMatchObject({ status: 0 });
  await chmod(wordpress, 0o700);
  const args = [program, 'doctor', 'site', '--data-dir', dataDir, '--json'];
  const { stdout } = spawnSync(process.execPath, args, { uid: GUARD, gid: GUARD, encoding: 'utf8' });
  return JSON.parse(stdout);
}

const PASSWORD = 'a-secret-of-the-database';
const REMOTE = `postgres://guard:${PASSWORD}@db.example.com/guard`;
const database = { fault: null, other: null, readableSecrets: [] };

const faults: Readonly<Record<FindingCode, Fault>> = {
  'guard-stopped': {
    examine: at({ stopped: true }),
    state: 'problem',
    message: /^Guard is not running\.$/,
    advice: /systemctl start security-optimizer/,
  },
  'guard-silent': {
    examine: at({}, async ({ configure, dataDir }) => {
      await configure(() => ({ listen: '127.0.0.1:9' }));
      // A guard that has just started would be awaited.
      await utimes(join(dataDir, 'guard.pid'), 1, 1);
    }),
    state: 'problem',
    message: /^Guard runs, but does not answer on 127\.0\.0\.1:9\.$/,
    advice: /journalctl/,
  },
  'guard-serves-others': {
    examine: at(
      {},
      async ({ configure, dataDir }) => {
        await configure(({ sites }) => ({ sites: [...sites, { ...sites[0], id: 'new', hosts: ['new.example.com'] }] }));
        await writeFile(join(dataDir, 'sites', 'new.secret'), 'ab'.repeat(32), { mode: 0o600 });
      },
      () => ({ site: 'new' }),
    ),
    state: 'problem',
    message: /^The running guard does not serve this site\.$/,
    advice: /systemctl reload/,
  },
  'guard-quarantines': {
    examine: at({ stopped: true }, quarantine),
    state: 'problem',
    message: /does not protect this site: it is in quarantine, and its visitors get 503/,
    advice: /See below, key/,
  },
  'entry-unusable': {
    examine: at({}, ({ configure }) =>
      configure(({ sites }) => ({ sites: [{ ...sites[0], upstream: 'http://nowhere/path' }] })),
    ),
    state: 'problem',
    message: /still goes by the last valid entry; from its next start on the site is in quarantine.*upstream/,
    advice: /^Mend guard\.json.*all other checks need the entry/,
  },
  'settings-unusable': {
    examine: at({}, async ({ dataDir }) => storeUnusableSetting(dataDir)),
    state: 'problem',
    message: /last settings that it could read.*503: the stored value of disable_xml_rpc can’t be used/,
    advice: /settings import/,
  },
  'database-unusable': {
    examine: at({ stopped: true }, ({ dataDir }) => writeFile(join(dataDir, 'guard.sqlite'), 'no database')),
    state: 'problem',
    message: /^The database can’t be used \(corrupt: .*\)\.$/,
    advice: /see what the reason says/,
  },
  // `postgres-commands.test.ts` has a guard with such a variable.
  'database-other': {
    examine: () => checkDatabase({ ...database, url: 'sqlite:guard.sqlite', other: 'Guard has another. Call it so.' }),
    state: 'problem',
    message: /^Guard has another\. Call it so\.$/,
    advice: /all checks of settings/,
  },
  'database-not-encrypted': {
    examine: () => checkDatabase({ ...database, url: `${REMOTE}?sslmode=disable` }),
    state: 'warning',
    message: /^The connection to postgres:\/\/guard@db\.example\.com:5432\/guard is not encrypted/,
    advice: /sslmode=verify-full/,
  },
  'database-not-verified': {
    examine: () => checkDatabase({ ...database, url: `${REMOTE}?sslmode=require` }),
    state: 'warning',
    message: /^The certificate of postgres:\/\/guard@db\.example\.com:5432\/guard is not verified/,
    advice: /sslrootcert=FILE/,
  },
  'database-password-readable': {
    examine: at({ stopped: true }, async ({ configure, dataDir }) => {
      // Nothing listens on the port.
      await configure(() => ({ database: `postgres://guard:${PASSWORD}@127.0.0.1:9/guard` }));
      await chmod(join(dataDir, 'guard.json'), 0o640);
    }),
    state: 'problem',
    message: /^Others may read the password of the database, or a key to it, in [^ ]*\/guard\.json\.$/,
    advice: /^Run chmod 600 on [^ ]*\/guard\.json, and then change the password\.$/,
  },
  'key-unusable': {
    examine: at({ stopped: true }, quarantine),
    state: 'problem',
    message: /in quarantine: guard answers its visitors with 503.*others may read it; run chmod 600 on it/,
    advice: /systemctl reload.*all other checks need the key/,
  },
  'connector-version': {
    examine: at({}, ({ connector }) => Object.assign(connector, { version: '0.0.9' })),
    state: 'problem',
    message: /has version 0\.0\.9, guard/,
    advice: /attach/,
  },
  'connector-missing': {
    examine: at({}, ({ connector }) => Object.assign(connector, { mode: 'gone' })),
    state: 'problem',
    message: /connector plugin is missing/,
    advice: /--mu-plugins/,
  },
  'connector-key': {
    examine: at({}, ({ connector }) => Object.assign(connector, { secret: 'ab'.repeat(32) })),
    state: 'problem',
    message: /key|secret/,
    advice: /it writes the key into WordPress/,
  },
  'connector-redirected': {
    examine: at({}, (site) => redirectAll(site, 'https://www.example.org/')),
    state: 'problem',
    message: /https:\/\/www\.example\.org\//,
    advice: /The web server behind guard/,
  },
  'connector-unreachable': {
    examine: at({}, ({ connector }) => connector.close()),
    state: 'problem',
    message: /WordPress/,
    advice: /Check the web server behind guard and `upstream`/,
  },
  'policy-paused': {
    examine: at({}, async ({ dataDir }) => {
      expect(await runInChild('pause', '5', '--data-dir', dataDir)).toMatchObject({ status: 0 });
    }),
    state: 'problem',
    message: /^Everything is paused until 20/,
    advice: /security-optimizer resume/,
  },
  'policy-unknown': {
    examine: at({}, ({ connector }) => Object.assign(connector, { mode: 'gone' })),
    state: 'skipped',
    message: /is not known, because it did not answer/,
    advice: null,
  },
  'policy-outdated': {
    examine: at({ stopped: true }, ({ connector }) =>
      Object.assign(connector, { policy: { hash: '0123456789abcdef', policy: {} } }),
    ),
    state: 'problem',
    message: /does not run the stored policy/,
    advice: /policy-push-failed/,
  },
  'redirect-loop': {
    examine: at(
      behind(({ url }) =>
        url === '/wp-login.php'
          ? { status: 302, headers: { location: 'https://example.com/wp-login.php' }, body: '' }
          : null,
      ),
    ),
    state: 'problem',
    message: /leads visitors of https:\/\/example\.com\/wp-login\.php to the very same address/,
    advice: /X-Forwarded-Proto/,
  },
  'redirects-address-unknown': {
    examine: unknownAddress,
    state: 'skipped',
    message: /address is not known/,
    advice: null,
  },
  'redirects-no-response': {
    examine: at({}, ({ connector }) => connector.close()),
    state: 'skipped',
    message: /did not answer/,
    advice: null,
  },
  'direct-no-response': {
    examine: at({}, ({ connector }) => connector.close()),
    state: 'skipped',
    message: /did not answer guard’s machine: nothing listens there/,
    advice: null,
  },
  'direct-allowed': {
    examine: at({ requireGuard: false }),
    state: 'warning',
    message: /visitors can go past guard/,
    advice: /--require-guard/,
  },
  'direct-server-error': {
    examine: at({}, ({ connector }) => Object.assign(connector, { mode: 'broken' })),
    state: 'skipped',
    message: /answered with 502/,
    advice: null,
  },
  'direct-redirected': {
    examine: at({}, (site) => redirectAll(site, 'https://www.example.org/')),
    state: 'skipped',
    message: /redirects direct requests \(302\)/,
    advice: null,
  },
  'direct-answered': {
    examine: at({}, ({ connector }) => Object.assign(connector, { requireGuard: false })),
    state: 'problem',
    message: /answers direct requests \(status 404\), although the site requires guard/,
    advice: /attach.*Reload PHP/,
  },
  'direct-cache': {
    examine: at({}, async ({ connector, configure }) => {
      connector.pages.set('/', ({ url }) => (url === '/' ? '<title>Example</title>' : null));
      // Not a loopback address, so other machines reach the server, too.
      const upstream = connector.upstream.replace('127.0.0.1', '0.0.0.0');
      await configure(({ sites }) => ({ sites: [{ ...sites[0], upstream }] }));
    }),
    state: 'warning',
    message: /A page cache behind guard answers before the connector can refuse/,
    advice: /127\.0\.0\.1 or a socket file/,
  },
  'address-unknown': {
    examine: unknownAddress,
    state: 'skipped',
    message: /public address is not known/,
    advice: null,
  },
  'address-other-guard': {
    examine: at({}, undefined, async () => ({ connect: (await doctorSite()).connect })),
    state: 'problem',
    message: /but not this one/,
    advice: /compare the proxy’s target with `listen`/,
  },
  'address-refused-by-wordpress': {
    examine: through({}, {}, ({ connector }) => connector.upstream),
    state: 'problem',
    message: /leads past guard, and WordPress refuses its visitors with 403/,
    advice: /hand them on to guard/,
  },
  'address-past-guard': {
    examine: through({}, { requireGuard: false }, ({ connector }) => connector.upstream),
    state: 'problem',
    message: /leads past guard: WordPress answers by itself/,
    advice: /hand them on to guard/,
  },
  'address-other-server': {
    examine: through({ status: 404 }),
    state: 'problem',
    message: /something else does \(404\)/,
    advice: /hand them on to guard/,
  },
  'address-no-response': {
    examine: at({}, undefined, async () => ({ connect: { host: '127.0.0.1', port: await freePort() } })),
    state: 'problem',
    message: /^Nothing answers at https:\/\/example\.com: nothing listens there\.$/,
    advice: /Check DNS, the firewall/,
  },
  'client-unknown': {
    examine: at({}, undefined, async () => ({ connect: { host: '127.0.0.1', port: await freePort() } })),
    state: 'skipped',
    message: /Guard did not see the visit/,
    advice: null,
  },
  'client-forgeable': {
    examine: at({ front: { forwardedFor: 'pass' } }),
    state: 'problem',
    message: /they can choose their address/,
    advice: /proxy_set_header X-Forwarded-For \$remote_addr/,
  },
  'client-forgeable-here': {
    examine: at({ front: { forwardedFor: 'believe' } }),
    state: 'warning',
    message: /hands on the X-Forwarded-For that this machine sends/,
    advice: /From another machine, request https:\/\/example\.com\//,
  },
  'client-not-named': {
    examine: at({ front: { forwardedFor: 'none' } }),
    state: 'problem',
    message: /does not say who visits/,
    advice: /set X-Forwarded-For/,
  },
  'client-private': {
    examine: at({ front: { forwardedFor: { address: '10.20.30.40' } } }),
    state: 'warning',
    message: /takes 10\.20\.30\.40, a private address, for the visitor/,
    advice: /`trustedProxies`/,
  },
  'client-proxy-untrusted': {
    examine: at({ trustedProxies: [] }),
    state: 'problem',
    message: /The proxy at 127\.0\.0\.1 is not trusted\. All visitors share/,
    advice: /--trusted-proxy 127\.0\.0\.1/,
  },
  'client-perhaps-proxy': {
    examine: at({ trustedProxies: [], front: { forwardedFor: 'none' } }),
    state: 'warning',
    message: /private address 127\.0\.0\.1/,
    advice: /--trusted-proxy 127\.0\.0\.1/,
  },
  'server-hides-visitors': {
    examine: at({}, ({ connector }) => Object.assign(connector, { addressSeen: () => false })),
    state: 'warning',
    message: /guard’s address for every visitor/,
    advice: /set_real_ip_from 127\.0\.0\.1/,
  },
  'server-open-page': {
    examine: at({}, async ({ connector }) => {
      connector.pages.set('/server-status', () => '<h1>Apache Server Status for localhost</h1>');
    }),
    state: 'warning',
    message: /Everybody who asks for \/server-status with the host example\.com gets the state of Apache/,
    advice: /`Require local`/,
  },
  'server-unknown': {
    examine: at({}, ({ connector }) => Object.assign(connector, { addressSeen: undefined })),
    state: 'skipped',
    message: /is not known/,
    advice: null,
  },
  'https-address-unknown': {
    examine: unknownAddress,
    state: 'skipped',
    message: /public address is not known/,
    advice: null,
  },
  'https-not-used': {
    examine: at({ home: 'http://example.com' }, undefined, ({ guard }) => ({ connect: guard })),
    state: 'problem',
    message: /passwords and session cookies travel unprotected/,
    advice: /Get a certificate/,
  },
  'https-no-redirect': {
    examine: at({ front: { forwardsHttp: true } }),
    state: 'warning',
    message: /By http the site answers with \d+ and does not lead to https/,
    advice: /return 301 https/,
  },
  'certificate-not-seen': {
    examine: at({ home: 'http://example.com' }, undefined, ({ guard }) => ({ connect: guard })),
    state: 'skipped',
    message: /No certificate was seen/,
    advice: null,
  },
  'certificate-invalid': {
    examine: at({ front: { validity: [2020, 2021] } }),
    state: 'problem',
    message: /The certificate is not valid: its time is over\./,
    advice: /Renew it/,
  },
  'certificate-ends-soon': {
    examine: at({ front: { validity: 10 } }),
    state: 'warning',
    message: /^The certificate ends in 9 days, on \d{4}-\d\d-\d\d\.$/,
    advice: /Renew it/,
  },
  'scheme-unknown': {
    examine: at({}, undefined, async () => ({ connect: { host: '127.0.0.1', port: await freePort() } })),
    state: 'skipped',
    message: /Guard did not see the visit/,
    advice: null,
  },
  'scheme-https-address-http': {
    examine: at(
      { home: 'http://example.com', front: { forwardsHttp: true, forwardedProto: 'https' } },
      undefined,
      ({ connectByHttp }) => ({ connect: connectByHttp }),
    ),
    state: 'warning',
    message: /reached guard as https, but WordPress’s address is http:\/\/example\.com/,
    advice: /Settings, General, to https/,
  },
  'scheme-not-sent': {
    examine: at({ front: { forwardedProto: false } }),
    state: 'problem',
    message: /guard takes it for http/,
    advice: /proxy_set_header X-Forwarded-Proto \$scheme/,
  },
  'scheme-proxy-untrusted': {
    examine: at({ trustedProxies: [] }),
    state: 'problem',
    message: /guard takes it for http/,
    advice: /Name the proxy in `trustedProxies` \(127\.0\.0\.1\)/,
  },
  'clock-unknown': {
    examine: at({}, ({ connector }) => connector.close()),
    state: 'skipped',
    message: /did not tell its time/,
    advice: null,
  },
  'clock-differs': {
    examine: at({}, ({ connector }) => Object.assign(connector, { clockAhead: 45_000 })),
    state: 'warning',
    message: /\d+ seconds ahead of guard’s\.$/,
    advice: /timedatectl set-ntp true/,
  },
  'clock-signatures-refused': {
    examine: at({}, ({ connector }) => Object.assign(connector, { clockAhead: -300_000 })),
    state: 'problem',
    message: /\d+ seconds behind guard’s\. WordPress believes no signature/,
    advice: /timedatectl set-ntp true/,
  },
  'cache-unknown': {
    examine: at({}, undefined, async () => ({ connect: { host: '127.0.0.1', port: await freePort() } })),
    state: 'skipped',
    message: /does not reach guard/,
    advice: null,
  },
  'cache-before-login': {
    examine: at({ front: { cached: ['/wp-login.php'] } }),
    state: 'problem',
    message: /^A cache in front of guard answers \/wp-login\.php \(age: 17\): no rule for logins is asked\.$/,
    advice: /Exclude \/wp-login\.php/,
  },
  'cache-before-page': {
    examine: at({ front: { cached: ['/'] } }),
    state: 'warning',
    message: /^A cache in front of guard answers \/ \(age: 17\): blocked visitors still get it\.$/,
    advice: /Put the cache behind guard/,
  },
  'cache-keeps-login': {
    examine: at(behind(({ url }) => (url === '/wp-login.php' ? toPage('<form>', { 'x-cache': 'HIT' }) : null))),
    state: 'warning',
    message: /^A cache keeps \/wp-login\.php \(x-cache: HIT\)\.$/,
    advice: /Exclude \/wp-login\.php/,
  },
  'cache-mixes-schemes': {
    examine: at(behind(styledPage, { toKey: ({ url }) => String(url) })),
    state: 'problem',
    message: /gives visitors by https the copy that it made for http: .*http:\/\/example\.com\/wp-includes\/style\.css/,
    advice: /\$http_x_forwarded_proto.*empty it/,
  },
  'files-folder-writable': {
    examine: at({}, ({ dataDir }) => chmod(dataDir, 0o777)),
    state: 'problem',
    message: /^Others may write in /,
    advice: /chmod 700/,
  },
  'files-guard-user': {
    examine: at({}, ({ dataDir }) => chown(dataDir, OTHER_USER, OTHER_USER)),
    state: 'problem',
    message: /^Guard runs as user 0, but .* belongs to user 54321\.$/,
    advice: /`User=`/,
    needsRoot: true,
  },
  'files-foreign-owner': {
    examine: at({}, ({ dataDir }) => chown(join(dataDir, 'guard.json'), OTHER_USER, OTHER_USER)),
    state: 'problem',
    message: /guard\.json does not belong to user 0, who owns the data folder/,
    advice: /chown -R 0 /,
    needsRoot: true,
  },
  'files-readable': {
    examine: at({}, ({ dataDir }) => chmod(join(dataDir, 'guard.sqlite'), 0o644)),
    state: 'problem',
    message: /^Others may read .*guard\.sqlite\.$/,
    advice: /chmod 600/,
  },
  'files-folder-unknown': {
    examine: at({}, ({ configure }) =>
      configure(({ sites: [{ wordpressDir: _, ...site } = {}] }) => ({ sites: [site] })),
    ),
    state: 'skipped',
    message: /folder is not in the configuration/,
    advice: null,
  },
  'files-no-access': {
    // Without root, `doctor` runs as the user of these tests, who may enter every folder that they create.
    examine: () => {
      if (canSwitchUsers) return examineAsGuard();
      const folder = { path: '/var/lib/security-optimizer', uid: 1, mode: 0o700 };
      const denied = { fault: '/srv/site: EACCES: permission denied', isDenied: true };
      return checkPermissions({ folder, files: [], guardUid: 1 }, denied, null, {
        isKeyExternal: false,
        requireGuard: true,
      });
    },
    state: 'skipped',
    message: /may not look into the site/,
    advice: /Run `doctor` as root/,
  },
  'files-unusable': {
    examine: at({}, ({ wordpress }) => rm(wordpress, { recursive: true })),
    state: 'problem',
    message: /wordpress is not there/,
    advice: /operations\.md/,
  },
  'files-missing': {
    examine: at({}, ({ plugins }) => rm(join(plugins, 'security-optimizer.php'))),
    state: 'problem',
    message: /the loader security-optimizer\.php is missing/,
    advice: /attach/,
  },
  'files-incomplete': {
    examine: at({}, async (site) => rm(join(await classFolder(site), 'classes.php'))),
    state: 'problem',
    message: /^The connector is incomplete: \S*\/includes-\w+\/classes\.php is missing\. So it does not run/,
    advice: /attach/,
  },
  'files-other-key': {
    examine: at({}, (site) => writeFile(keyFile(site), '<?php')),
    state: 'problem',
    message: /does not hold the site’s key/,
    advice: /attach/,
  },
  'files-key-readable': {
    examine: at({}, (site) => chmod(keyFile(site), 0o644)),
    state: 'problem',
    message: /^More users may read .*secret\.php than .*wp-config\.php\.$/,
    advice: /attach/,
  },
  'files-writable': {
    examine: at({}, async (site) => chmod(await classFile(site), 0o666)),
    state: 'problem',
    message: /^Every user may change .*class-hooks\.php\.$/,
    advice: /chmod -R o-w/,
  },
  'files-connector-owner': {
    examine: at({}, async (site) => chown(await classFile(site), OTHER_USER, OTHER_USER)),
    state: 'problem',
    message: /^User 54321 may change .*class-hooks\.php\. The folder of must-use plugins belongs to user 0\.$/,
    advice: /chown -R 0 /,
    needsRoot: true,
  },
  'files-unreadable': {
    examine: at({}, async (site) => chmod(await classFile(site), 0o600)),
    state: 'problem',
    message: /^PHP may not be able to read .*class-hooks\.php: fewer users may than .*wp-config\.php\.$/,
    advice: /chmod -R a\+rX/,
  },
  'files-shared': {
    examine: at({}, ({ configure }) =>
      configure(({ sites }) => ({ sites: [{ ...sites[0], sharedConnector: '/security-optimizer-missing' }] })),
    ),
    state: 'problem',
    message: /^There is no \/security-optimizer-missing/,
    advice: /security-optimizer share-connector/,
  },
  'disk-unknown': { examine: () => [checkDisk(null)], state: 'skipped', message: /is not known/, advice: null },
  'disk-low': {
    examine: () => onDisk(500) ?? [checkDisk(500 * MEGABYTE)],
    state: 'warning',
    message: /^Only (?:49\d|500) MB are free/,
    advice: /Make room/,
  },
  'disk-full': {
    examine: () => onDisk(99) ?? [checkDisk(99 * MEGABYTE)],
    state: 'problem',
    message: /^Only 9\d MB are free/,
    advice: /guard stores no setting and no visit/,
  },
  'mail-server': {
    examine: async () => at({ stopped: true, config: smtp(await freePort()) })(),
    state: 'problem',
    message: /Reports and alerts are not sent/,
    advice: /`mail\.smtp`/,
  },
  'mail-not-sent': {
    examine: at(
      { stopped: true },
      ({ connector }) => Object.assign(connector, { mailFault: 'Could not instantiate mail function.' }),
      () => ({ mailTo: 'anna@example.com' }),
    ),
    state: 'problem',
    message: /WordPress did not take a mail to anna@example\.com: .*Could not instantiate mail function\./,
    advice: /Check how WordPress sends mails/,
  },
};

afterAll(removeTemplate);

describe('doctor reports', () => {
  it('each of its codes, by a test below', () => {
    expect(Object.keys(faults).sort()).toEqual([...FINDING_CODES].sort());
  });

  it.each(Object.entries(faults).map(([code, fault]) => ({ code, ...fault })))(
    '$code',
    async ({ code, examine, state, message, advice, needsRoot }) => {
      if (needsRoot === true && !isRoot) return;
      const findings = await examine();
      expect(findings.filter((finding) => finding.code === code)).toEqual([
        {
          check: expect.any(String),
          code,
          state,
          message: expect.stringMatching(message),
          advice: advice === null ? null : expect.stringMatching(advice),
        },
      ]);
    },
  );
});

describe('doctor and a PostgreSQL database', () => {
  it('names no password, and finds nothing wrong with an encrypted or local connection', async () => {
    for (const url of [REMOTE, `${REMOTE}?sslmode=verify-full`, 'postgres:///guard?host=/run/postgresql']) {
      expect(checkDatabase({ ...database, url })).toMatchObject([{ state: 'ok', code: null }]);
    }
    const all = checkDatabase({
      ...{ url: `${REMOTE}?sslmode=disable`, fault: 'unreachable', other: null, readableSecrets: ['/x'] },
    });
    expect(all.map(({ code }) => code)).toEqual([
      ...['database-unusable', 'database-not-encrypted', 'database-password-readable'],
    ]);
    expect(JSON.stringify(all)).not.toContain(PASSWORD);
  });

  it('finds a readable file with the password, and a readable key', async () => {
    const site = await doctorSite({ stopped: true });
    for (const name of ['password', 'client.key']) await writeFile(join(site.dataDir, name), '', { mode: 0o640 });
    const files = 'passwordfile=password&sslcert=client.crt&sslkey=client.key&sslmode=require';
    await writeFile(join(site.dataDir, 'client.crt'), '');
    await site.configure(() => ({ database: `postgres://guard@127.0.0.1:9/guard?${files}` }));
    const found = faultsAbout(await site.examine(), 'database').at(-1);
    expect(found?.code).toBe('database-password-readable');
    expect(found?.message).toContain(`${join(site.dataDir, 'password')}, ${join(site.dataDir, 'client.key')}.`);
  });
});

/** The findings about one check that are no success. */
const faultsAbout = (findings: readonly Finding[], check: CheckName) =>
  findings.filter((finding) => finding.check === check && finding.state !== 'ok');

describe('doctor and quarantine', () => {
  it('reports that the key can be used again, but guard has not read it', async () => {
    const site = await doctorSite({ stopped: true });
    await quarantine(site);
    await chmod(join(site.dataDir, 'sites', 'example-com.secret'), 0o600);
    const findings = await site.examine();
    expect(faultsAbout(findings, 'key')).toEqual([]);
    expect(faultsAbout(findings, 'guard')).toMatchObject([
      { code: 'guard-quarantines', advice: expect.stringContaining('The reason for it is gone.') },
    ]);
  });

  it('reports that guard still serves a site whose key has become unusable since', async () => {
    const site = await doctorSite();
    await chmod(join(site.dataDir, 'sites', 'example-com.secret'), 0o644);
    const findings = await site.examine();
    expect(findings.map(({ check, code }) => [check, code])).toEqual([
      ['guard', null],
      ['key', 'key-unusable'],
    ]);
    expect(findings[1]?.message).toMatch(/^The running guard still has the former key; from its next reload/);
  });

  it('sends no request of the site to WordPress', async () => {
    const site = await doctorSite({ stopped: true });
    await quarantine(site);
    let requests = 0;
    site.connector.onRequest = () => requests++;
    await site.examine();
    expect(requests).toBe(0);
  });
});

describe('doctor and its own visit', () => {
  it.each([
    ['guard trusts this machine, whose address the proxy appends', { forwardedFor: 'append' }],
    ['the proxy sets the address', { forwardedFor: 'set' }],
  ] as const)('reports no forged address where %s', async (_, front) => {
    const { examine } = await doctorSite({ front });
    expect(faultsAbout(await examine(), 'client-address')).toEqual([]);
  });
});

describe('doctor and a server for the machine alone', () => {
  /** A page that the web server behind guard has under the names of the machine only. */
  const addMachinePage = ({ connector }: DoctorSite) =>
    connector.pages.set('/server-status', ({ headers }) =>
      headers.host === 'localhost' ? '<h1>Apache Server Status for localhost</h1>' : null,
    );

  it('reports a page that visitors reach where localhost is a host of the site', async () => {
    const site = await doctorSite({ hosts: ['example.com', 'localhost'] });
    addMachinePage(site);
    expect(faultsAbout(await site.examine(), 'server-behind')).toMatchObject([
      { code: 'server-open-page', message: expect.stringContaining('/server-status with the host localhost') },
    ]);
  });

  it('reports none where guard lets only the machine itself use that host', async () => {
    const site = await doctorSite({ hosts: ['*'] });
    addMachinePage(site);
    expect(faultsAbout(await site.examine(), 'server-behind')).toEqual([]);
  });
});

describe('doctor and redirects', () => {
  it.each(['/', '/wp-login.php'])('reports that %s redirects to itself', async (path) => {
    const location = `https://example.com${path}`;
    const redirect: Behind['page'] = ({ url }) =>
      url === path ? { status: 301, headers: { location }, body: '' } : null;
    const { examine } = await doctorSite(behind(redirect));
    expect(faultsAbout(await examine(), 'redirects')).toMatchObject([
      { code: 'redirect-loop', message: expect.stringContaining(location) },
    ]);
  });
});

describe('doctor and a cache with one copy for both schemes', () => {
  const [withoutScheme, withScheme] = [
    { toKey: ({ url }: { url?: string | undefined }) => String(url) },
    { toKey: ({ url }: { url?: string | undefined }, scheme: string) => `${scheme} ${url}` },
  ];
  /** As a plugin that leads to https. */
  const leadsToHttps: Behind['page'] = ({ url }, scheme) =>
    scheme === 'http' ? { status: 301, headers: { location: `https://example.com${url}` }, body: '' } : toPage('Hello');

  it.each<[string, Setup]>([
    ['behind guard', behind(styledPage, withoutScheme)],
    ['behind guard that stores redirects', behind(leadsToHttps, withoutScheme)],
    ['in front', { ...behind(styledPage), front: { forwardsHttp: true, cache: withoutScheme } }],
    [
      'in front that stores redirects',
      { ...behind(leadsToHttps), front: { forwardsHttp: true, cache: withoutScheme } },
    ],
  ])('reports it %s', async (_, setup) => {
    const { examine } = await doctorSite(setup);
    expect(faultsAbout(await examine(), 'cache')).toMatchObject([{ code: 'cache-mixes-schemes' }]);
  });

  const oldPost = toPage('<img src="http://example.com/old.jpg">');

  it.each<[string, Setup]>([
    ['with the scheme in its key, behind guard', behind(styledPage, withScheme)],
    ['with the scheme in its key, for redirects', behind(leadsToHttps, withScheme)],
    [
      'with the scheme in its key, in front',
      { ...behind(styledPage), front: { forwardsHttp: true, cache: withScheme } },
    ],
    ['that is not there', { ...behind(styledPage), front: { forwardsHttp: true } }],
    ['with a page that itself has links by http', behind(() => oldPost, withoutScheme)],
  ])('does not report one %s', async (_, setup) => {
    const { examine } = await doctorSite(setup);
    const codes = faultsAbout(await examine(), 'cache').map(({ code }) => code);
    expect(codes).not.toContain('cache-mixes-schemes');
  });

  it('reports it behind guard where every response is stored, and a query is ignored', async () => {
    const ignoresQuery = { toKey: ({ url }: { url?: string | undefined }) => String(url).replace(/\?.*/, '') };
    const page: Behind['page'] = (request, scheme) =>
      request.url?.startsWith('/?') ? toPage('Hello') : styledPage(request, scheme);
    const { examine } = await doctorSite(behind(page, ignoresQuery));
    expect(faultsAbout(await examine(), 'cache')).toMatchObject([
      {
        code: 'cache-mixes-schemes',
        message: expect.stringContaining('https://example.com/security-optimizer-doctor-'),
      },
    ]);
  });

  it('requests by http only pages that nobody visits, where http does not reach the site', async () => {
    const byHttp: (string | undefined)[] = [];
    const page: Behind['page'] = (request, scheme) => {
      if (scheme === 'http') byHttp.push(request.url);
      return styledPage(request, scheme);
    };
    const { examine } = await doctorSite(behind(page, withoutScheme));
    await examine();
    expect(byHttp).toEqual([expect.stringMatching(/^\/\?security-optimizer-doctor-[0-9a-f]{16}$/)]);
  });
});

describe('doctor and the connector’s files', () => {
  it.each<[FindingCode, string, (site: DoctorSite) => Promise<void>]>([
    ['files-writable', 'every user may change the loader', ({ plugins }) => chmod(toLoader(plugins), 0o666)],
    ['files-writable', 'a group may change a class', async (site) => chmod(await classFile(site), 0o664)],
    ['files-writable', 'every user may add classes', async (site) => chmod(await classFolder(site), 0o777)],
    ['files-unreadable', 'PHP may not read the loader', ({ plugins }) => chmod(toLoader(plugins), 0o600)],
    [
      'files-unreadable',
      'PHP may not enter the folder of the classes',
      async (site) => chmod(await classFolder(site), 0o744),
    ],
  ])('reports (%s) that %s', async (code, _, change) => {
    const site = await doctorSite({ stopped: true });
    await change(site);
    const findings = faultsAbout(await site.examine(), 'permissions');
    expect(findings.map((finding) => finding.code)).toEqual([code]);
    expect(findings[0]?.message.length).toBeLessThan(600);
  });

  it('names a few of many files', async () => {
    const site = await doctorSite({ stopped: true });
    const folder = await classFolder(site);
    const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.php'));
    for (const name of files) await chmod(join(folder, name), 0o666);
    expect(faultsAbout(await site.examine(), 'permissions')[0]?.message).toMatch(
      new RegExp(`^Every user may change (?:[^ ,]+, ){2}[^ ,]+ and ${files.length - 3} more\\.$`),
    );
  });

  it('accepts that a group may change all must-use plugins', async () => {
    const site = await doctorSite({ stopped: true });
    await chmod(site.plugins, 0o775);
    await chmod(await classFile(site), 0o664);
    expect(faultsAbout(await site.examine(), 'permissions')).toEqual([]);
  });

  const toLoader = (plugins: string) => join(plugins, 'security-optimizer.php');
});
