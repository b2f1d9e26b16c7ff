import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { about, type DoctorSite, doctorSite, removeTemplate, type Setup } from '../../test/support/doctor-site.js';
import { freePort } from '../../test/support/front-proxy.js';
import { mailServer } from '../../test/support/mail-server.js';
import { callApi } from '../../test/support/running-guard.js';
import type { DoctorOptions } from './doctor.js';
import type { CheckName } from './doctor-findings.js';

/** A line without a fault: how its state is made, and what it says. */
interface Fact {
  readonly check: CheckName;
  readonly setup?: Setup;
  readonly change?: (site: DoctorSite) => unknown;
  readonly options?: (site: DoctorSite) => Partial<DoctorOptions> | Promise<Partial<DoctorOptions>>;
  readonly message: RegExp;
}

const VISITOR = '198.51.100.20';
const byHttp = { home: 'http://example.com' };
const toGuard: Fact['options'] = ({ guard }) => ({ connect: guard });

/** Blocks the address under which guard sees the visits of this machine. */
async function blockVisitor({ guard }: DoctorSite): Promise<void> {
  const url = `http://${guard.host}:${guard.port}`;
  const blocked = await callApi(url, '/block-addresses', { body: JSON.stringify({ address: VISITOR }) });
  expect(blocked.http).toBe(200);
}

const facts: Readonly<Record<string, Fact>> = {
  'guard serves the site': {
    check: 'guard',
    message: /^Guard runs, answers on 127\.0\.0\.1:\d+, and serves this site\.$/,
  },
  'guard runs, and what it serves is not known': {
    check: 'guard',
    change: ({ dataDir }) => rm(join(dataDir, 'guard.sites')),
    message: /^Guard runs and answers on 127\.0\.0\.1:\d+\.$/,
  },
  'the key is good': { check: 'key', message: /^The site’s key can be used\.$/ },
  'the settings are good': { check: 'settings', message: /^The stored settings can be used\.$/ },
  'the connector answers': { check: 'connector', message: /^The connector answers, in version \d+\.\d+\.\d+\.$/ },
  'WordPress runs the policy': { check: 'policy', message: /^WordPress runs the stored policy\.$/ },
  'nothing redirects to itself': { check: 'redirects', message: /neither the first page nor the login page to itself/ },
  'direct requests are refused': { check: 'direct-requests', message: /^Direct requests are refused with 403\.$/ },
  'direct requests are refused although the site does not ask for it': {
    check: 'direct-requests',
    setup: { requireGuard: false },
    change: ({ connector }) => Object.assign(connector, { requireGuard: true }),
    message: /^Direct requests are refused with 403\.$/,
  },
  'direct requests get the first page as a file, on this machine alone': {
    check: 'direct-requests',
    change: ({ connector }) => connector.pages.set('/', () => '<title>A file</title>'),
    message:
      /refused with 403, but by a page cache or a file for the first page\. Other machines were not found to get it/,
  },
  'visitors reach guard': { check: 'public-address', message: /^https:\/\/example\.com reaches this guard\.$/ },
  'a rule refuses the visits of this machine': {
    check: 'public-address',
    setup: { hosts: ['example.com', '127.0.0.1'], front: { forwardedFor: { address: VISITOR } } },
    change: blockVisitor,
    message:
      /^https:\/\/example\.com reaches this guard\. Its rule blocked-visitor refuses visits .*\(198\.51\.100\.20\)\.$/,
  },
  'a trusted proxy names visitors': {
    check: 'client-address',
    message: /^Guard sees visits of this machine from 127\.0\.0\.1\. The proxy at 127\.0\.0\.1 is trusted\.$/,
  },
  'no proxy is in between': {
    check: 'client-address',
    setup: byHttp,
    options: toGuard,
    message: /^Guard sees visits of this machine from 127\.0\.0\.1\. No proxy is in between\.$/,
  },
  'the web server behind sees visitors': { check: 'server-behind', message: /^The web server .* sees each visitor’s/ },
  'http leads to https': { check: 'https', message: /^The public address uses https, and http leads there\.$/ },
  'http is not answered': {
    check: 'https',
    options: async () => ({ connectByHttp: { host: '127.0.0.1', port: await freePort() } }),
    message: /^The public address uses https, and http is not answered\.$/,
  },
  'an address with a port has no http': {
    check: 'https',
    setup: { home: 'https://example.com:8443' },
    message: /^The public address uses https\.$/,
  },
  'the certificate is valid': { check: 'certificate', message: /^The certificate is valid until \d{4}-\d\d-\d\d\.$/ },
  'visitors come by https': { check: 'scheme', message: /^Guard and WordPress know that visitors come by https\.$/ },
  'visitors come by http': {
    check: 'scheme',
    setup: byHttp,
    options: toGuard,
    message: /^Guard and WordPress know that visitors come by http\.$/,
  },
  'the database can be used': { check: 'database', message: /^The database can be used\.$/ },
  'the clocks agree': { check: 'clock', message: /^The clocks of guard and WordPress agree\.$/ },
  'a clock that differs by some seconds': {
    check: 'clock',
    change: ({ connector }) => Object.assign(connector, { clockAhead: -20_000 }),
    message: /^The clocks of guard and WordPress agree\.$/,
  },
  'no cache answers': { check: 'cache', message: /^No cache answers in guard’s place\.$/ },
  'owners and modes are right': { check: 'permissions', message: /^Owners and modes of guard’s files and of/ },
  'the disk has room': { check: 'disk', message: /^[\d,]+ MB are free on the disk of the data folder\.$/ },
  'WordPress sends mails': { check: 'mail', message: /^WordPress sends the mails .*--mail ADDRESS tries it\.$/ },
  'WordPress has taken a mail': {
    check: 'mail',
    options: () => ({ mailTo: 'anna@example.com' }),
    message: /^WordPress has taken a mail to anna@example\.com\. See whether it arrives\.$/,
  },
};

afterAll(removeTemplate);

describe('doctor states as a fact that', () => {
  it.each(Object.entries(facts).map(([name, fact]) => ({ name, ...fact })))(
    '$name',
    async ({ check, setup = {}, change, options, message }) => {
      const site = await doctorSite(setup);
      await change?.(site);
      expect(about(await site.examine(await options?.(site)), check)).toEqual({
        ...{ check, state: 'ok', code: null, advice: null },
        message: expect.stringMatching(message),
      });
    },
  );

  it('the mail server answers, and has taken a mail', async () => {
    const { server } = await mailServer();
    const smtp = { host: '127.0.0.1', port: server.port, from: 'guard@example.com' };
    const { examine } = await doctorSite({ config: { mail: { smtp } } });
    const name = `127.0.0.1:${server.port}`;
    expect(about(await examine(), 'mail').message).toBe(`The mail server ${name} answers and lets guard in.`);
    const sent = about(await examine({ mailTo: 'anna@example.com' }), 'mail').message;
    expect(sent).toBe(`${name} has taken a mail to anna@example.com. See whether it arrives.`);
  });
});
