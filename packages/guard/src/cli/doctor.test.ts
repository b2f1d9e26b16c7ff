import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runInChild } from '../../test/support/command-line.js';
import { about, doctorSite, removeTemplate } from '../../test/support/doctor-site.js';
import { mailServer } from '../../test/support/mail-server.js';
import { loadConfig } from '../config/load-config.js';
import { examineSite } from './doctor.js';
import type { Finding } from './doctor-findings.js';

afterAll(removeTemplate);

describe('doctor at a site without problems', () => {
  it('reports every check in order, and changes nothing', async () => {
    const well = await doctorSite();
    const before = [...well.connector.commands].filter((command) => command !== 'hello' && command !== 'events');
    const findings = await well.examine();
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([]);
    expect(findings.map(({ check }) => check)).toEqual([
      ...['guard', 'key', 'settings', 'database', 'connector', 'policy', 'redirects', 'direct-requests'],
      'public-address',
      ...['client-address', 'server-behind', 'https', 'certificate', 'scheme', 'clock', 'cache', 'permissions', 'disk'],
      'mail',
    ]);
    const after = well.connector.commands.filter((command) => command !== 'hello' && command !== 'events');
    expect(after).toEqual(before);
  });

  it('is a command with exit codes, text and JSON', async () => {
    const { dataDir, connect } = await doctorSite();
    const doctor = (...more: string[]) =>
      runInChild('doctor', '--data-dir', dataDir, '--connect', `127.0.0.1:${connect.port}`, ...more);
    // The command trusts only the system's authorities, so the test's certificate is the only problem.
    const asJson = await doctor('example-com', '--json');
    expect(asJson).toMatchObject({ status: 1, stderr: '' });
    const findings = JSON.parse(asJson.stdout) as Finding[];
    expect(findings.filter(({ state }) => state === 'problem').map(({ check }) => check)).toEqual(['certificate']);
    expect(findings[0]).toEqual({ check: 'guard', state: 'ok', code: null, message: expect.any(String), advice: null });
    const text = (await doctor('example-com')).stdout;
    expect(text).toMatch(/^PROBLEM {2}certificate {6}The certificate is not valid: .*\n +-> Renew it/m);
    expect(text).toMatch(/^Problems: 1, warnings: 0, skipped: 0\.$/m);
    expect(await doctor('other')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(
        'No site has the id other. There is example-com; `security-optimizer sites list`',
      ),
    });
    expect(await doctor()).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('Name one site by its id. There is example-com;'),
    });
    expect(await doctor('example-com', '--mail', 'nobody')).toMatchObject({ status: 2 });
  });
});

describe('doctor and a stopped guard', () => {
  it('checks the rest', async () => {
    const findings = await (await doctorSite({ stopped: true })).examine();
    expect(about(findings, 'guard').state).toBe('problem');
    expect(about(findings, 'connector').state).toBe('ok');
    expect(about(findings, 'client-address').state).toBe('skipped');
  });
});

describe('doctor and TLS', () => {
  it('reports that the site is reached by http only', async () => {
    const { examine, dataDir } = await doctorSite({ home: 'http://example.com', front: { forwardedProto: false } });
    const { listen: guard } = JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8'));
    const findings = await examine({ connect: { host: '127.0.0.1', port: Number(guard.split(':')[1]) } });
    expect(about(findings, 'https')).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('passwords and session cookies travel unprotected'),
    });
    expect(about(findings, 'client-address')).toMatchObject({
      state: 'ok',
      message: expect.stringContaining('No proxy is in between'),
    });
  });

  it.each([
    ['is not signed by a known authority', 'https://example.com', false, 'it is self-signed.'],
    ['is for another name', 'https://example.org', true, 'it belongs to other names.'],
  ])('reports that the certificate %s', async (_which, home, isKnown, fault) => {
    const { examine, connect } = await doctorSite({ home });
    const { ca, ...unknown } = connect;
    expect(about(await examine({ connect: isKnown ? connect : unknown }), 'certificate')).toMatchObject({
      state: 'problem',
      message: `The certificate is not valid: ${fault}`,
    });
  });
});

describe('doctor and the public address', () => {
  it('reports a certificate whose time has not begun', async () => {
    const { examine } = await doctorSite({ front: { validity: [2090, 2099] } });
    expect(about(await examine(), 'certificate').message).toBe(
      'The certificate is not valid: its time has not begun, or a clock is wrong.',
    );
  });

  it('reports that DNS does not know the name', async () => {
    const { connector, dataDir } = await doctorSite({ stopped: true, home: 'https://example.invalid' });
    const config = await loadConfig({ dataDir, env: {} });
    expect(connector.home).toBe('https://example.invalid');
    const findings = await examineSite(config, { site: 'example-com' });
    expect(about(findings, 'public-address')).toMatchObject({
      code: 'address-no-response',
      message: expect.stringMatching(
        /^Nothing answers at https:\/\/example\.invalid: DNS does not (?:know the name|answer)\.$/,
      ),
    });
  });
});

describe('doctor and mails', () => {
  const smtp = (port: number) => ({ mail: { smtp: { host: '127.0.0.1', port, from: 'guard@example.com' } } });

  it('connects to the mail server and sends nothing', async () => {
    const { server, received } = await mailServer();
    const { examine } = await doctorSite({ stopped: true, config: smtp(server.port) });
    expect(about(await examine(), 'mail')).toMatchObject({
      state: 'ok',
      message: `The mail server 127.0.0.1:${server.port} answers and lets guard in.`,
    });
    expect(received).toEqual([]);
  });

  it('sends a test mail to a given address, through the mail server or WordPress', async () => {
    const { server, received } = await mailServer();
    const bySmtp = await doctorSite({ stopped: true, config: smtp(server.port) });
    expect(about(await bySmtp.examine({ mailTo: 'anna@example.com' }), 'mail').state).toBe('ok');
    expect(received).toMatchObject([{ to: ['anna@example.com'] }]);
    const byWordPress = await doctorSite({ stopped: true });
    expect(about(await byWordPress.examine({ mailTo: 'anna@example.com' }), 'mail').state).toBe('ok');
    expect(byWordPress.connector.mails).toMatchObject([{ to: 'anna@example.com' }]);
    byWordPress.connector.mailFault = 'Could not instantiate mail function.';
    expect(about(await byWordPress.examine({ mailTo: 'anna@example.com' }), 'mail')).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('Could not instantiate mail function.'),
    });
  });
});
