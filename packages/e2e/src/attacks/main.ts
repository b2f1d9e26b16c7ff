import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parseArgs } from 'node:util';
import { type SecurityField, siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import { type Group, groups } from './attack.js';
import { attackTable, runAttacks, summarise } from './run.js';
import { AttackedSite, type SiteOptions } from './site.js';

/** @returns the exit code: 0 the site has held, 1 an attack got through or a twin did not work, 2 called wrongly */
export async function attack(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(help);
    return 0;
  }
  try {
    const options = await readOptions(args);
    const site = await AttackedSite.meet(options);
    process.stderr.write(`${site.states().join('\n')}\n\n`);
    const dot = ({ ok }: { ok: boolean | null }) => process.stderr.write(ok === null ? '-' : ok ? '.' : 'X');
    const results = await runAttacks(site, { groups: options.only, onResult: dot });
    process.stderr.write('\n\n');
    const summary = summarise(results);
    process.stdout.write(
      options.json ? `${JSON.stringify({ ...summary, results }, null, 2)}\n` : attackTable(results, options.all),
    );
    if (summary.passed + summary.failed === 0) process.stderr.write('No attack means anything at this site.\n');
    return summary.failed === 0 && summary.passed > 0 ? 0 : 1;
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\n\n${help}`);
      return 2;
    }
    process.stderr.write(`${(error as Error).message}\n`);
    return 1;
  }
}

export interface AttackOptions extends SiteOptions {
  readonly only: readonly Group[];
  readonly json: boolean;
  readonly all: boolean;
}

/** A mistake in how the program was called. */
export class UsageError extends Error {}

const PASSWORD = 'SECURITY_OPTIMIZER_OWNER_PASSWORD';

/** Short names under which the states of the protections can be given. */
const states: Readonly<Record<string, SecurityField>> = {
  xmlrpc: 'disable_xml_rpc',
  feeds: 'disable_feed',
  folders: 'lock_system_folders',
  version: 'wp_remove_version',
  editors: 'disable_file_edit',
  headers: 'xss_protection',
  readme: 'delete_readme',
};

export const help = `npm run attack -- --url URL [options]     known attacks on a site of your own, each beside its legitimate twin

  --url URL             the site, through guard, for example http://127.0.0.1:8080
  --i-own-this-site     needed unless the address is on this machine
  --may-lock-me-out     guess passwords from this machine, whose address then waits an hour or longer; not needed
                        on this machine, which has many addresses
  --login-url PATH      where the login is, if it is not /wp-login.php
  --owner NAME          an administrator; the password is read from --password-file or ${PASSWORD}
  --password-file FILE  the password alone
  --origin URL          WordPress's own web server, to try to go around guard
  --expect LIST         states that are known, for example xmlrpc=off,feeds=on; otherwise they are read with the
                        owner's login, or found by asking. "off" means that the site has closed it.
                        Names: ${Object.keys(states).join(', ')}
  --limit N             failed logins that the site permits, where the owner's login is not given (5)
  --only LIST           some of: ${groups.join(', ')}
  --all                 show attacks that could not run, too
  --json                print JSON

It changes no setting. About 2,000 requests, one or a few at a time. Exit code: 0 every attack failed and every twin worked,
1 not so, 2 called wrongly.
`;

/** @throws UsageError */
export async function readOptions(args: readonly string[]): Promise<AttackOptions> {
  const values = parse(args);
  const url = toUrl('url', values.url);
  const local = await isLocal(url.hostname);
  if (!local && values['i-own-this-site'] !== true) {
    throw new UsageError(`${url.hostname} is not this machine. Attack only what is yours: --i-own-this-site says so.`);
  }
  const passwords = local || values['may-lock-me-out'] === true;
  const only = values.only?.split(',').map(toGroup) ?? groups.filter((group) => passwords || group !== 'passwords');
  if (!passwords && only.includes('passwords')) {
    throw new UsageError('Guessing passwords locks this machine’s address: --may-lock-me-out says that it may.');
  }
  const password = values['password-file']
    ? readFileSync(values['password-file'], 'utf8').trim()
    : process.env[PASSWORD];
  if (values.owner !== undefined && !password) {
    throw new UsageError(`--owner: give the password by --password-file or ${PASSWORD}.`);
  }
  if (values['login-url'] !== undefined && !/^\/[^\s?#]+$/.test(values['login-url'])) {
    throw new UsageError('--login-url: use a path, for example /quiet-door');
  }
  if (values.limit !== undefined && !/^\d{1,2}$/.test(values.limit))
    throw new UsageError('--limit: use a whole number');
  return {
    ...{ url: url.origin, only, json: values.json === true, all: values.all === true },
    manyAddresses: local && process.platform === 'linux' && isIP(url.hostname) === 4,
    ...(values.origin === undefined ? {} : { origin: toUrl('origin', values.origin).origin }),
    ...(values['login-url'] === undefined ? {} : { loginUrl: values['login-url'] }),
    ...(values.owner === undefined ? {} : { owner: { login: values.owner, password: password ?? '' } }),
    ...(values.expect === undefined ? {} : { expect: toStates(values.expect) }),
    ...(values.limit === undefined ? {} : { limit: Number(values.limit) }),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        ...{ url: { type: 'string' }, 'i-own-this-site': { type: 'boolean' }, 'may-lock-me-out': { type: 'boolean' } },
        ...{ 'login-url': { type: 'string' }, owner: { type: 'string' }, 'password-file': { type: 'string' } },
        ...{ origin: { type: 'string' }, expect: { type: 'string' }, limit: { type: 'string' } },
        ...{ only: { type: 'string' }, all: { type: 'boolean' }, json: { type: 'boolean' } },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function toUrl(name: string, text: string | undefined): URL {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.username !== '') {
    throw new UsageError(`--${name}: use an http or https address without a path, for example http://127.0.0.1:8080`);
  }
  return url;
}

/** All addresses of a host name must be local: DNS may return any of them next time. */
async function isLocal(hostname: string): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(host)
    ? [host]
    : (await lookup(host, { all: true }).catch(() => [])).map(({ address }) => address);
  return addresses.length > 0 && addresses.every((address) => address === '::1' || /^127(?:\.\d+){3}$/.test(address));
}

function toGroup(name: string): Group {
  const group = groups.find((known) => known === name.trim());
  if (group === undefined) throw new UsageError(`--only: there is no ${name}; there are ${groups.join(', ')}`);
  return group;
}

/** `off` means that the attacked resource is closed, so the protection is on. */
function toStates(list: string): Partial<Record<SecurityField, boolean>> {
  const known = siteSecurityToggles.map(({ field }) => field);
  return Object.fromEntries(
    list.split(',').map((entry) => {
      const [name = '', value] = entry.trim().split('=');
      const field = states[name] ?? known.find((one) => one === name);
      if (field === undefined || (value !== 'on' && value !== 'off')) {
        throw new UsageError(`--expect: use NAME=on or NAME=off with ${Object.keys(states).join(', ')}`);
      }
      return [field, value === 'off'];
    }),
  );
}
