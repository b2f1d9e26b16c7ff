import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import type { Service } from '@security-optimizer/sandbox/lib/service';
import { expect } from 'vitest';
import { AttackedSite, type Transport } from '../../attacks/site.js';
import { type RawResponse, sendRaw } from '../../http/raw.js';
import { toBytes } from '../../http/request.js';
import { ADDRESS_CLAIMS } from '../../http/spellings.js';
import { policyPushed, startGuard, stopGuard } from '../../stacks/guard-process.js';
import type { Stack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { attachAnew, HOST, installSite, type SiteBehind } from './site-behind.js';

/** A site that shows how each server of a chain sees its visitors, with all protections on. */

/** The address that `FORGED` claims. */
export const FORGED_ADDRESS = '198.51.100.9';

/** The headers by which a visitor may claim another address or scheme, in several spellings. */
export const FORGED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(ADDRESS_CLAIMS.map((claim) => [claim, FORGED_ADDRESS])),
  ...Object.fromEntries(ADDRESS_CLAIMS.map((claim) => [claim.replaceAll('-', '_'), FORGED_ADDRESS])),
  forwarded: `for=${FORGED_ADDRESS};proto=http`,
  'x-forwarded-proto': 'http',
};

/** Shows the client as the web server sees it, then as WordPress does, and where the forged address is left. */
const WHO = `<?php
$server = $_SERVER['REMOTE_ADDR'];
require __DIR__ . '/wp-load.php';
$forged = array_filter( $_SERVER, function ( $value ) {
  return is_string( $value ) && false !== strpos( $value, '${FORGED_ADDRESS}' );
} );
header( 'Cache-Control: no-store' );
echo json_encode( array(
  'server'    => $server,
  'wordpress' => $_SERVER['REMOTE_ADDR'],
  'https'     => is_ssl(),
  'forged'    => array_keys( $forged ),
  'cookie'    => $_SERVER['HTTP_COOKIE'] ?? '',
  'host'      => $_SERVER['HTTP_HOST'],
  'target'    => $_SERVER['REQUEST_URI'],
  'proxy'     => array( $_SERVER['HTTP_CF_CONNECTING_IP'] ?? null, $_SERVER['HTTP_TRUE_CLIENT_IP'] ?? null ),
) );
`;

/** The response of `/who.php`. */
export interface Who {
  readonly server: string;
  readonly wordpress: string;
  readonly https: boolean;
  readonly forged: readonly string[];
  readonly cookie: string;
  readonly host: string;
  readonly target: string;
  /** `CF-Connecting-IP` and `True-Client-IP`. */
  readonly proxy: readonly (string | null)[];
}

export interface ProbedSite {
  readonly site: SiteBehind;
  /** Access log of the web server behind. */
  readonly log: string;
  /** The owner, who comes directly to guard. */
  readonly owner: AttackedSite;
  /** Options of an attack over this transport. */
  readonly about: (transport: Transport) => Parameters<typeof AttackedSite.meet>[0];
  /** Calls an endpoint as the owner. */
  readonly change: (suffix: string, fields: Readonly<Record<string, unknown>>) => Promise<void>;
  /** The clients of the requests for this target in the access log, once there is one. */
  readonly loggedClients: (target: string) => Promise<readonly string[]>;
}

/** Sends requests to guard itself, as a proxy on this machine. */
export function asProxy(site: Pick<SiteBehind, 'port' | 'url'>, usual = '203.0.113.250'): Transport {
  return (request, from = usual) => {
    const headers = { ...request.headers, 'x-forwarded-for': from, 'x-forwarded-proto': 'https' };
    return sendRaw(site.port, toBytes(site, { ...request, headers }));
  };
}

/**
 * Installs the site and starts its web server and guard, which trusts 127.0.0.1.
 *
 * @param startWeb starts the web server behind; it must write the client and the target of each request to `log`
 * @param limit wrong passwords that lock an address out
 */
export async function startProbedSite(
  stack: Stack,
  dir: string,
  startWeb: (site: SiteBehind, log: string) => Promise<Service>,
  limit: number,
): Promise<ProbedSite & { readonly web: Service }> {
  const site = await installSite(stack, dir, dir.split('/').at(-1) as string);
  writeFileSync(join(site.wordpressDir, 'who.php'), WHO);
  const log = join(dir, 'access.log');
  const web = await startWeb(site, log);
  expect(await attachAnew(site, [HOST])).toMatchObject({ code: 0 });
  await startGuard(site);
  await policyPushed(site);
  const about = (transport: Transport) => ({
    ...{ url: site.url, owner: { login: site.user, password: site.password }, manyAddresses: true, transport },
  });
  const owner = await AttackedSite.meet(about(asProxy(site)));
  const change = async (suffix: string, fields: Readonly<Record<string, unknown>>): Promise<void> => {
    const target = `/wp-json/security-optimizer/v1${suffix}`;
    const request = { method: 'POST', target, headers: owner.ownerHeaders, body: JSON.stringify(fields) };
    const { status, body } = await owner.request(request);
    expect([suffix, status, body]).toEqual([suffix, 200, expect.stringContaining('"status":200')]);
  };
  for (const { field, suffix } of siteSecurityToggles) await change(suffix, { [field]: 1 });
  await change('/limit-login-attempts', { login_attempts: limit });
  const loggedClients = (target: string) =>
    until('the web server has logged the request', () => {
      const lines = readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line.includes(` ${target} `));
      return lines.length > 0 && lines.map((line) => line.split(' ')[0] as string);
    });
  return { site, log, owner, about, change, loggedClients, web };
}

/**
 * Starts guard again if it has another configuration. It trusts 127.0.0.1 unless the keys say otherwise.
 *
 * @param keys keys of the configuration in place of those of the last call
 * @param ready whether guard answers, if it does not take plain requests at its port
 */
export async function configure(
  site: SiteBehind,
  keys: Readonly<Record<string, unknown>>,
  ready?: () => Promise<boolean>,
): Promise<void> {
  const file = join(site.guardDir, 'guard.json');
  const before = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  const { proxyProtocol: _, trustedProxyHeaders: __, ...rest } = before;
  const after = { ...rest, trustedProxies: ['127.0.0.1'], ...keys };
  if (JSON.stringify(after) === JSON.stringify(before)) return;
  await stopGuard(site);
  writeFileSync(file, JSON.stringify(after));
  await startGuard(site, {}, ready);
}

/** The response of `/who.php`, parsed. */
export function readWho({ status, body }: RawResponse): Who {
  if (status !== 200) throw new Error(`/who.php answered ${status}: ${body.slice(0, 200)}`);
  return JSON.parse(body) as Who;
}
