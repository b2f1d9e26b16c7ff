import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { weeklyReportEndpoints } from '@security-optimizer/contract/activity/endpoints';
import { SMTPServer } from 'smtp-server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { activitySite } from '../../test/support/activity-site.js';

interface List {
  readonly entries: readonly { readonly id: number; readonly email: string }[];
  readonly max_emails: number;
}
interface Report {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

describe('the endpoints of the tab Weekly Reports', () => {
  it('respond as the contract defines', async () => {
    const { call } = await activitySite();
    const bodies: Record<string, object> = { '/notification-emails': { entries: ['a@example.com'] } };
    for (const { suffix, response } of weeklyReportEndpoints) {
      const parsed = response.safeParse(await call(suffix, bodies[suffix]));
      expect([suffix, parsed.error]).toEqual([suffix, undefined]);
    }
  });

  it('are available to administrators only', async () => {
    const { send } = await activitySite();
    for (const { suffix } of weeklyReportEndpoints) {
      const editor = { cookie: 'session=editor', 'x-wp-nonce': 'editor-nonce' };
      expect((await send(suffix, {}, { headers: editor })).http).toBe(403);
    }
  });

  it.each([
    ['a list of addresses', { entries: ['Anna@Example.com', 'ben@example.com'] }],
    ['a list of objects', { entries: [{ email: 'anna@example.com' }, { email: 'BEN@example.com ' }] }],
    ['an object with numeric keys', { entries: { 0: { email: 'anna@example.com' }, 1: 'ben@example.com' } }],
    ['a bare array', ['anna@example.com', 'ben@example.com']],
    ['a list with a duplicate', ['anna@example.com', 'ben@example.com', 'ANNA@example.com']],
  ])('accept %s as the whole new list', async (_words, body) => {
    const { call } = await activitySite();
    const first = await call<List>('/notification-emails', ['other@example.com', 'anna@example.com']);
    const response = await call<List>('/notification-emails', body);
    expect(response.entries.map(({ email }) => email)).toEqual(['anna@example.com', 'ben@example.com']);
    expect(response.entries[0]?.id).toBe(first.entries[1]?.id);
    expect(await call('/weekly-report')).toEqual(response);
  });

  it('accept all of a list or nothing, and name the invalid rows', async () => {
    const { call, send } = await activitySite();
    await call('/notification-emails', ['anna@example.com']);
    const refused = async (entries: unknown) => (await send('/notification-emails', { entries })).body.fields;
    expect(await refused(['ben@example.com', 'ben', '', 'BEN@example.com'])).toEqual({
      1: 'Invalid email address.',
      2: 'This field is required.',
    });
    expect(await refused(Array.from({ length: 6 }, (_, index) => `a${index}@example.com`))).toEqual({
      entries: 'Enter at most 5 e-mail addresses.',
    });
    expect(await refused(7)).toEqual({ entries: 'Send a list of e-mail addresses.' });
    expect((await call<List>('/weekly-report')).entries.map(({ email }) => email)).toEqual(['anna@example.com']);
  });

  it('accept the configured number of addresses, and keep them after a restart', async () => {
    const site = await activitySite({ weeklyReport: { maxEmails: 1 } });
    expect(await site.call('/weekly-report')).toEqual({ entries: [], max_emails: 1 });
    const stored = await site.call('/notification-emails', ['anna@example.com']);
    await site.restart();
    expect(await site.call('/weekly-report')).toEqual(stored);
  });

  it('record the change of the list in the Activity Log', async () => {
    const { call, noted, registered } = await activitySite();
    await call('/notification-emails', ['anna@example.com']);
    await noted(1);
    expect((await registered()).entries[0]?.activity).toBe(
      'Set “Recipients of weekly reports” in Security Optimizer to anna@example.com (before: nobody)',
    );
  });

  it('warn when the list is set while no reports can be sent', async () => {
    const { call, send } = await activitySite();
    await call('/activity-log-lifetime', { log_lifetime: 7 });
    const { body } = await send('/notification-emails', ['anna@example.com']);
    expect(body.message).toContain('once the log is on and kept for 8 days or more');
  });

  it('return the current report, with the latest events', async () => {
    const { call, visit, logged } = await activitySite();
    await visit('/shop/<b>');
    await visit('/wp-config.php.bak', { address: '203.0.113.9' });
    await visit('/feed', { agent: 'curl/8.0' });
    await logged(3);
    const { subject, html, text } = await call<Report>('/weekly-report-preview');
    expect(subject).toMatch(/^Weekly report for example\.com, .* so far$/);
    expect(text).toContain('Visits by humans: 1\n');
    expect(text).toContain('Visits by bots: 1\n');
    expect(text).toContain('Blocked visits: 1\n');
    expect(text).toContain(
      'https://example.com/wp-admin/admin.php?page=activity-log&log_tab=weekly-reports#weekly-reports',
    );
    expect(text).toContain('- /\u200bshop/\u200b%3Cb%3E: 1 visit');
    expect(html.includes('<b>')).toBe(false);
  });

  it('send a test through WordPress to the caller alone', async () => {
    const { connector, send } = await activitySite();
    const { body } = await send('/weekly-report-test', {});
    expect(body.data).toEqual({ email: 'owner@example.com' });
    expect(connector.mails).toMatchObject([
      { to: 'owner@example.com', subject: expect.stringMatching(/^Test: Weekly report for example\.com/) },
    ]);
  });

  it('return the reason why WordPress could not send a test', async () => {
    const { connector, send } = await activitySite();
    connector.mailFault = 'Could not instantiate mail function.';
    const { http, body } = await send('/weekly-report-test', {});
    expect([http, body.code, body.message]).toEqual([
      502,
      'mail_not_sent',
      'The test report could not be sent. WordPress said: Could not instantiate mail function.',
    ]);
  });

  it('send by SMTP where a mail server is configured, with the password from its file', async () => {
    const received: { user: unknown; to: string }[] = [];
    const server = new SMTPServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        password === 'a b' ? done(null, { user: username }) : done(new Error('No')),
      onData(stream, { user, envelope }, done) {
        stream.resume().on('end', () => {
          received.push({ user, to: envelope.rcptTo[0]?.address ?? '' });
          done();
        });
      },
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
    const { port } = server.server.address() as AddressInfo;
    const folder = await activitySite();
    const password = join(folder.dataDir, 'mail.password');
    await writeFile(password, 'a b\n', { mode: 0o600 });
    const smtp = { host: '127.0.0.1', port, user: 'guard', passwordFile: password, from: 'reports@example.com' };
    const { connector, send } = await activitySite({ mail: { smtp } });
    expect((await send('/weekly-report-test', {})).http).toBe(200);
    expect(received).toEqual([{ user: 'guard', to: 'owner@example.com' }]);
    expect(connector.mails).toEqual([]);
  });
});
