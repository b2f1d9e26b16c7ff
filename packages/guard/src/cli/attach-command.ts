import { resolve } from 'node:path';
import { z } from 'zod';
import {
  homePath,
  hostName,
  listenAddress,
  sharedFolder,
  siteId,
  trustedProxy,
  upstreamOrigin,
} from '../config/config-file.js';
import { lineText } from '../lib/plain-text.js';
import { includesEverybody } from '../lib/typed-ranges.js';
import type { SiteId } from '../site.js';
import { type AttachedSite, attachVerified, type VerifiedSite } from './attach.js';
import { type Command, CommandError, checked, readOptions, required, UsageError } from './command.js';
import { readExistingConfig } from './config-store.js';
import { toUnverifiedText } from './connector-location.js';
import { endAfterThisSite } from './interruption.js';
import { attachByHand } from './manual-install.js';
import { prepareRelease } from './prepare-release.js';
import { printServed } from './running-guard.js';
import { toRealAddressAdvice } from './upstream-server.js';

export const attachCommand: Command = {
  name: 'sites add',
  summary: 'Connect a WordPress with guard: installs the connector, creates the secret, writes the configuration.',
  help: `security-optimizer sites add --wordpress DIR --upstream URL --data-dir DIR [options]
security-optimizer sites add --release DIR --data-dir DIR [--site ID] [--mu-plugins DIR]
security-optimizer sites add --all --data-dir DIR

  --wordpress DIR        folder of the WordPress installation. The path identifies the site, even if it is a link that
                         each deployment points to another release
  --upstream URL         origin of its web server, for example http://127.0.0.1:8081, or unix:/run/web.sock; default: as
                         before
  --listen HOST:PORT     address on which guard listens, or unix:/run/guard.sock; default: as before, at first
                         127.0.0.1:8080
  --data-dir DIR         guard's data folder, outside the WordPress folder
  --mu-plugins DIR       folder of its must-use plugins; default: the one in WordPress's own configuration
  --host NAME            host name of the site; repeatable; default: every host
  --trusted-proxy CIDR   proxy in front of guard whose X-Forwarded-For is trusted, or unix for every client of guard's
                         Unix socket; repeatable
  --site ID              restore the settings and the log of a detached site
  --new-site             this is another site than the attached one with the same folder: they share it
  --shared-mu-plugins    other sites use the same folder of must-use plugins: the key is only this site's from the start
  --external-key         write no key: you provide it in the file that SECURITY_OPTIMIZER_KEY_FILE names, a constant in
                         wp-config.php or a variable of PHP's environment
  --print                write nothing into WordPress, and print the files to create: for code that can't be written, and
                         for a site whose key you provide. For a new site with --shared-connector, without --wordpress
  --own-key              let guard write the key again
  --moved                with --site: that attached site is in this folder from now on
  --shared-connector DIR run the connector from DIR, where \`share-connector\` has installed it, instead of a copy; an
                         absolute path
  --own-connector        give the site a copy of the connector again
  --home PATH            URL path of a site in a sub-directory, for example /blog
  --require-guard        let WordPress refuse requests that bypass guard; only after visitors came through guard
  --force                with --require-guard: do not check whether visitors come through guard; with a range of
                         --trusted-proxy that contains nearly all clients: trust it
  --allow-direct         let WordPress answer requests that bypass guard, as after the first attach
  --user NAME            as root: creates a missing data folder for the user as whom guard runs
  --release DIR          install the connector in a release of an attached site before it becomes the current one, and
                         change nothing else; --site names the site if there are several
  --all                  bring every attached site up to date and change nothing else, for example after a deployment

As root it works in the data folder with the rights of that folder's owner, and in WordPress with those of its owner.
It can be repeated safely: the secret and every setting stay, and a site that requires guard still does. A running guard
serves the site at once, also with another --trusted-proxy; another --listen takes effect after a restart.`,
  async run(args) {
    const values = readOptions(args, {
      wordpress: { type: 'string' },
      'mu-plugins': { type: 'string' },
      upstream: { type: 'string' },
      listen: { type: 'string' },
      'data-dir': { type: 'string' },
      host: { type: 'string', multiple: true },
      'trusted-proxy': { type: 'string', multiple: true },
      home: { type: 'string' },
      'shared-connector': { type: 'string' },
      'own-connector': { type: 'boolean', default: false },
      site: { type: 'string' },
      moved: { type: 'boolean', default: false },
      'new-site': { type: 'boolean', default: false },
      'shared-mu-plugins': { type: 'boolean', default: false },
      print: { type: 'boolean', default: false },
      'external-key': { type: 'boolean', default: false },
      'own-key': { type: 'boolean', default: false },
      'allow-direct': { type: 'boolean', default: false },
      // Used by act-as-data-owner.
      user: { type: 'string' },
      'require-guard': { type: 'boolean', default: false },
      force: { type: 'boolean', default: false },
      all: { type: 'boolean', default: false },
      release: { type: 'string' },
    });
    if (values.all) {
      if (args.some((arg) => /^--(?!all$|data-dir(?:=|$))/.test(arg))) {
        throw new UsageError('--all changes nothing of any site: leave out the other options.');
      }
      return attachAll(resolve(required('data-dir', values['data-dir'])));
    }
    if (values.release !== undefined) {
      if (args.some((arg) => /^--(?!(?:release|data-dir|site|mu-plugins)(?:=|$))/.test(arg))) {
        throw new UsageError('--release changes nothing of the site: use --site, --mu-plugins and --data-dir alone.');
      }
      const prepared = await prepareRelease({
        wordpressDir: values.release,
        dataDir: required('data-dir', values['data-dir']),
        ...(values.site !== undefined && { site: checked('site', siteId, values.site) }),
        ...(values['mu-plugins'] !== undefined && { muPluginsDir: values['mu-plugins'] }),
      });
      process.stdout.write(`Prepared: a release of site ${prepared}.\n`);
      return 0;
    }
    const { 'allow-direct': allowDirect, 'require-guard': requireGuard, force } = values;
    if (allowDirect && requireGuard) throw new UsageError('--allow-direct and --require-guard contradict each other.');
    if (values['own-connector'] && values['shared-connector'] !== undefined) {
      throw new UsageError('--shared-connector and --own-connector contradict each other.');
    }
    if (values.moved && values.site === undefined) throw new UsageError('--moved belongs to --site.');
    if (values['new-site'] && values.host === undefined) throw new UsageError('--new-site needs --host.');
    if (values['external-key'] && values['own-key']) {
      throw new UsageError('--external-key and --own-key contradict each other.');
    }
    const trustsEverybody = includesEverybody(values['trusted-proxy'] ?? []);
    if (force && !requireGuard && !trustsEverybody) throw new UsageError('--force belongs to --require-guard.');
    if (trustsEverybody && !force) {
      throw new UsageError(
        '--trusted-proxy: this range means everybody, so each visitor could choose an address. Name your proxies, or say --force where nobody but your proxies can reach guard.',
      );
    }
    const dataDir = required('data-dir', values['data-dir']);
    const common = {
      dataDir,
      allowDirect,
      requireGuard: requireGuard && force ? ('force' as const) : requireGuard,
      ...(values.upstream !== undefined && { upstream: checked('upstream', upstreamOrigin, values.upstream) }),
      ...(values.listen !== undefined && { listen: checked('listen', listenAddress, values.listen) }),
      ...(values.host && { hosts: checked('host', z.array(hostName), values.host) }),
      ...(values['trusted-proxy'] && {
        trustedProxies: checked('trusted-proxy', z.array(trustedProxy), values['trusted-proxy']),
      }),
      ...(values['mu-plugins'] !== undefined && { muPluginsDir: values['mu-plugins'] }),
      ...(values.site !== undefined && { site: checked('site', siteId, values.site), moved: values.moved }),
      ...(values['shared-connector'] !== undefined && {
        sharedConnector: checked('shared-connector', sharedFolder, values['shared-connector']),
      }),
      newSite: values['new-site'],
      sharedMuPlugins: values['shared-mu-plugins'],
      ...((values['external-key'] || values['own-key']) && { externalKey: values['external-key'] }),
      ...(values['own-connector'] && { sharedConnector: null }),
      ...(values.home !== undefined && { home: checked('home', homePath, values.home) }),
    };
    if (values.print) {
      const { wordpress = null, 'mu-plugins': muPluginsDir = null } = values;
      const { sharedConnector = null } = common;
      process.stdout.write(await attachByHand({ ...common, wordpressDir: wordpress, muPluginsDir, sharedConnector }));
      return (await printServed(dataDir, { needsGuard: true })) ? 0 : 1;
    }
    const site = await attachVerified({ wordpressDir: required('wordpress', values.wordpress), ...common });
    process.stdout.write(
      `${site.again ? 'Brought up to date' : 'Attached'}: site ${site.id}.\n${printAddresses(site, common.upstream)}${
        site.requireGuard
          ? 'Direct requests: refused. Visitors must come through guard.'
          : 'Direct requests: allowed. Run this again with --require-guard when visitors come through guard.'
      }\n`,
    );
    printSharedKey(site);
    if (site.isLocationReported) {
      process.stdout.write(
        `WordPress loads its must-use plugins from ${lineText(site.location.muPluginsDir)}: the connector is there.\n`,
      );
    }
    for (const folder of site.cleaned)
      process.stdout.write(`Taken out of ${lineText(folder)}: the connector and its key.\n`);
    const isServed = await printServed(dataDir, { needsGuard: true, sites: [site.id] });
    for (const other of site.before) {
      process.stdout.write(
        `This folder was the site ${other} before, whose settings and log are kept. To take them up, detach the site ${site.id} and attach again with --site ${other}; to remove them, use \`security-optimizer erase --site ${other}\`.\n`,
      );
    }
    return printLocation(site) && isServed ? 0 : 1;
  },
};

/** The settings that the upstream web server of a new site needs first. */
function printAddresses({ again }: AttachedSite, upstream: string | undefined): string {
  if (again || upstream === undefined) return '';
  return `Before visitors come through guard, configure the web server behind it; otherwise every visitor has guard’s own address there. ${toRealAddressAdvice(upstream)}\n`;
}

/** Tells the operator when the site's key lies in a folder with the keys of other sites. */
function printSharedKey({ sharedKey, toMove }: AttachedSite): void {
  if (sharedKey !== null) {
    process.stdout.write(
      `Other sites use the same must-use plugins. The key of this one: ${lineText(sharedKey.path)}\n`,
    );
    if (sharedKey.isPublic) {
      process.stderr.write(
        'Every user of this machine may read that key, as this site’s wp-config.php. Take the right from wp-config.php and attach again.\n',
      );
    } else if (sharedKey.hasSameOwner) {
      process.stderr.write(
        'Keys of other sites there belong to the same user: code that runs in one of these sites can read the keys of all. Only a user for each site keeps them apart.\n',
      );
    }
  }
  if (toMove.length > 0) {
    process.stderr.write(
      `Every site that uses the same must-use plugins still finds the key of ${toMove.join(', ')}. Attach ${toMove.length === 1 ? 'that site' : 'these sites'} again.\n`,
    );
  }
}

/**
 * Brings every attached site up to date, one after the other. A site that fails is reported, and the others continue.
 * @returns the exit code
 */
async function attachAll(dataDir: string): Promise<number> {
  const { sites, invalidSites = [] } = await readExistingConfig(dataDir);
  const known = sites.filter(({ wordpressDir }) => wordpressDir !== null);
  let failed = 0;
  for (const { id, mistakes } of invalidSites) {
    process.stderr.write(`Site ${id}: its entry has mistakes: ${lineText(mistakes.join('; '))}\n`);
  }
  const unverified: SiteId[] = [];
  const interruption = endAfterThisSite();
  let done = 0;
  for (const { id, wordpressDir } of known) {
    if (interruption.isRequested) break;
    try {
      const folder = resolve(dataDir, wordpressDir as string);
      const { outcome } = await attachVerified({ wordpressDir: folder, dataDir, site: id });
      if (outcome.kind === 'missing') throw new CommandError(outcome.text);
      if (outcome.kind === 'unverified') unverified.push(id);
      process.stdout.write(`Brought up to date: site ${id}.\n`);
      done++;
    } catch (error) {
      failed++;
      process.stderr.write(`Site ${id}: ${(error as Error).message}\n`);
    }
  }
  const total = sites.length + invalidSites.length;
  process.stdout.write(`${done} of ${total} sites are up to date.\n`);
  if (interruption.isRequested) process.stdout.write('Interrupted. Run the same command again.\n');
  // Nothing has changed that a running guard could read.
  if (done === 0 && known.length > 0) return 1;
  const isServed = await printServed(dataDir, { needsGuard: false, sites: known.map(({ id }) => id) });
  if (unverified.length > 0) process.stdout.write(toUnverifiedText(unverified));
  interruption.close();
  return isServed && !interruption.isRequested && failed + invalidSites.length === 0 ? 0 : 1;
}

/** @returns false when WordPress answers without the connector */
function printLocation({ outcome, sharedConnector }: VerifiedSite): boolean {
  if (outcome.kind === 'confirmed') return true;
  // With a shared connector there is something to check, whatever the cause.
  const isFault = outcome.kind === 'missing' || sharedConnector !== null;
  (isFault ? process.stderr : process.stdout).write(`${lineText(outcome.text)}\n`);
  return outcome.kind !== 'missing';
}
