import { createHash } from 'node:crypto';
import { CHECKS, type CheckName } from '@security-optimizer/contract/post-hack/checkup';
import { toEnglish } from '@security-optimizer/contract/server-message';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTestDatabase } from '../../test/support/database.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { siteConfig } from '../../test/support/site-config.js';
import { silentLogger } from '../lib/logger.js';
import { createAuditStore } from '../settings/audit-store.js';
import type { CoreFiles, FileTarget, FoundFile } from '../wordpress/connector-commands.js';
import { ConnectorError } from '../wordpress/connector-error.js';
import type { Part } from './checkup.js';
import { coreFindings, createFinding, type Finding, uploadFindings } from './checkup-findings.js';
import { createCheckupRuns } from './checkup-runs.js';
import { sqlCheckupStore } from './checkup-store.js';
import { createFindingRemoval } from './finding-removal.js';
import { COPY_KEPT_MS, sqlRemovedFiles } from './removed-files-store.js';

const site = siteConfig();
const owner = { id: 1, login: 'owner', address: '192.0.2.1' };
const PART = 128 * 1024;
const hash = (content: string) => createHash('sha256').update(content, 'latin1').digest('hex');
const time = (seconds: number) => ({ time: String(seconds) });
const uploads = (name: string) => `/wp-content/uploads/${name}`;
const silent = () => new ConnectorError({ kind: 'unreachable', cause: 'no answer within the time allowed' });

/** WordPress with files and administrators. It removes and restores files as the connector does. */
class FakeWordPress {
  readonly files = new Map<string, string>();
  readonly administrators = new Map([[7, 1_795_000_000]]);
  /** Reasons why a file can't be removed or restored, by path. */
  readonly reasons = new Map<string, string>();
  /** Files at which WordPress stops answering. */
  readonly silentAt = new Set<string>();
  /** Files at which it removes the file and does not answer any more. */
  readonly lostAnswers = new Set<string>();
  coreAnswers = true;
  /** Files that are a part of WordPress. */
  readonly official = new Set<string>();
  now = Date.UTC(2026, 10, 29, 12);
  /** How long each command takes, milliseconds. */
  pace = 0;

  list(isCore: boolean): FoundFile[] {
    return [...this.files].flatMap(([file, content]) =>
      file.startsWith('/') === isCore ? [] : [{ file, path: btoa(file), at: 1_795_000_000, state: hash(content) }],
    );
  }

  core(): CoreFiles | 'checksums_unreachable' {
    const none = { files: [], count: 0, state: '' };
    const files = this.list(true).filter(({ file }) => !this.official.has(file));
    const unknown = { files, count: files.length, state: hash(files.map(({ file, state }) => file + state).join()) };
    if (!this.coreAnswers) return 'checksums_unreachable';
    return { version: '7.1', changed: none, missing: [], unknown, left: [] };
  }

  private find({ path, state }: FileTarget): string {
    this.now += this.pace;
    const file = atob(path);
    if (this.silentAt.has(file)) throw silent();
    const content = this.files.get(file);
    if (content === undefined) return 'gone';
    return hash(content) === state ? (this.reasons.get(file) ?? '') : 'changed';
  }

  async readFinding(target: FileTarget, offset: number) {
    const reason = this.find(target);
    const content = this.files.get(atob(target.path)) ?? '';
    const facts = { size: content.length, mode: 0o640, at: 1_795_000_000 };
    return reason === ''
      ? { reason, content: btoa(content.slice(offset, offset + PART)), ...facts }
      : { reason, content: '', size: 0, mode: 0, at: 0 };
  }

  async removeFinding(target: FileTarget): Promise<string> {
    const reason = this.find(target);
    const file = atob(target.path);
    if (reason === '') this.files.delete(file);
    if (this.lostAnswers.has(file)) throw silent();
    return reason;
  }

  readonly parts: number[] = [];

  async restoreFinding(
    { path }: FileTarget,
    { offset, content }: { offset: number; content: string },
  ): Promise<string> {
    const file = atob(path);
    if (offset === 0 && this.files.has(file)) return 'another_file';
    this.files.set(file, (offset === 0 ? '' : (this.files.get(file) ?? '')) + atob(content));
    this.parts.push(offset);
    return '';
  }
}

async function start(files: Readonly<Record<string, string>> = {}) {
  const db = await openTestDatabase(await scratchFolder(), { file: 'test.sqlite' });
  onTestFinished(() => db.destroy());
  const wordpress = new FakeWordPress();
  for (const [file, content] of Object.entries(files)) wordpress.files.set(file, content);
  const clock = () => wordpress.now;
  const copies = sqlRemovedFiles(db);
  const held = { checkup: Promise.resolve() };

  async function examinePart(check: CheckName): Promise<Part> {
    const outcome = { check, ran: 1 as const, title: '', text: '' };
    const scripts = wordpress.list(false);
    const core = wordpress.core();
    const findings: Readonly<Record<CheckName, () => Finding[]>> = {
      core: () => (typeof core === 'string' ? [] : coreFindings(core, time, '')),
      administrators: () =>
        [...wordpress.administrators].map(([id, registered]) =>
          createFinding({
            key: `administrator:${id}`,
            check: 'administrators',
            title: 'New administrator: web-helper',
            removal: { kind: 'administrator', id, registered },
          }),
        ),
      uploads: () => uploadFindings({ complete: true, scripts, count: scripts.length }, time, true),
      plugins: () => [],
    };
    const ran = check === 'core' && !wordpress.coreAnswers ? 0 : 1;
    return { outcome: { ...outcome, ran }, findings: findings[check](), notes: [] };
  }

  const checkups = createCheckupRuns({
    store: sqlCheckupStore(db),
    copies,
    async examine(_site, _before, onCheck) {
      await held.checkup;
      const parts = await Promise.all(CHECKS.map(examinePart));
      onCheck();
      return {
        checks: parts.map(({ outcome }) => outcome),
        findings: parts.flatMap(({ findings }) => findings),
        notes: [],
        administrators: [1],
      };
    },
    examinePart: (_site, check) => examinePart(check),
    sites: [site],
    timeZone: () => 'Europe/Berlin',
    isWeekly: () => false,
    securityEvents: { report: async () => undefined },
    clock,
    logger: silentLogger(),
  });
  onTestFinished(() => checkups.stop());
  const forgotten: string[] = [];
  const removal = createFindingRemoval({
    checkups,
    copies,
    commands: {
      core: async () => wordpress.core(),
      readFinding: (_site, target, offset) => wordpress.readFinding(target, offset),
      removeFinding: (_site, target) => wordpress.removeFinding(target),
      restoreFinding: (_site, target, part) => wordpress.restoreFinding(target, part),
      async removeAdministrator(_site, { id, registered }, heir) {
        if (id === heir) return 'yourself';
        if (wordpress.administrators.get(id) !== registered) return 'gone';
        wordpress.administrators.delete(id);
        return '';
      },
    },
    coreChecksums: 'https://example.com/core',
    audit: createAuditStore(db),
    onAudit: () => undefined,
    forgetSessions: ({ id }) => forgotten.push(id),
    clock,
    logger: silentLogger(),
  });
  checkups.begin(site);
  await checkups.ended(site.id);

  const look = async (reader: number | null = null) => checkups.describe(site.id, false, reader);
  const readFinding = async (check: CheckName) => {
    const finding = (await look()).latest?.findings.find((found) => found.check === check);
    if (finding === undefined) throw new Error(`No finding of ${check}`);
    return { ...finding, key: toEnglish(finding.key) };
  };
  const remove = async (check: CheckName, only: readonly number[] | null = null) =>
    toEnglish(await removal.remove(site, { key: (await readFinding(check)).key, only }, owner));
  const listRemoved = async () => (await look()).removed.map(({ file }) => file);
  const restore = async () =>
    toEnglish(
      await removal.restore(
        site,
        (await look()).removed.map(({ id }) => toEnglish(id)),
        owner,
      ),
    );
  const audit = async () =>
    (await db.selectFrom('audit').select(['name', 'before', 'after']).orderBy('at').execute()).map(
      ({ name, before, after }) => [name, JSON.parse(before), JSON.parse(after)],
    );
  return {
    wordpress,
    checkups,
    removal,
    copies,
    look,
    readFinding,
    remove,
    restore,
    listRemoved,
    audit,
    forgotten,
    held,
  };
}

const SHELL = "<?php system($_GET['c']);";

describe('removing a file of a finding', () => {
  it('keeps a copy, removes the finding, and records it; restoring it makes it a finding again', async () => {
    const at = Date.UTC(2026, 10, 29, 12);
    const { wordpress, look, remove, restore, audit, checkups } = await start({ [uploads('x.php')]: SHELL });
    expect(await checkups.countFindings(site.id)).toBe(2);
    expect(await remove('uploads')).toBe('');
    expect(wordpress.files.size).toBe(0);
    const { latest, removed } = await look();
    expect(latest?.findings.map(({ check }) => check)).toEqual(['administrators']);
    expect(removed).toMatchObject([
      { file: uploads('x.php'), by: 'owner', at: at / 1000, until: (at + COPY_KEPT_MS) / 1000 },
    ]);
    expect(await checkups.countFindings(site.id)).toBe(1);

    wordpress.now += 1000;
    expect(await restore()).toBe('');
    expect(wordpress.files.get(uploads('x.php'))).toBe(SHELL);
    const after = await look();
    expect([after.removed, after.latest?.findings.map(({ check }) => check)]).toEqual([
      [],
      ['administrators', 'uploads'],
    ]);
    expect(await audit()).toEqual([
      ['checkup_file_removed', { file: uploads('x.php') }, null],
      ['checkup_file_restored', null, { file: uploads('x.php') }],
    ]);
  });

  it('reads and restores a long file in parts, byte for byte', async () => {
    const long = SHELL + '\u00ff\u0000'.repeat(PART);
    const { wordpress, remove, restore } = await start({ [uploads('long.php')]: long });
    expect(await remove('uploads')).toBe('');
    expect(await restore()).toBe('');
    expect(wordpress.files.get(uploads('long.php')) === long).toBe(true);
    expect(wordpress.parts).toEqual([0, PART, 2 * PART]);
  });

  it('removes only the selected files of a finding, and says which files it can remove', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => uploads(`${name}.php`));
    const { wordpress, readFinding, remove, removal } = await start(
      Object.fromEntries(names.map((name) => [name, SHELL])),
    );
    const finding = await readFinding('uploads');
    expect([finding.remove, finding.files]).toEqual(['files', names]);
    await expect(removal.remove(site, { key: finding.key, only: [6] }, owner)).rejects.toMatchObject({
      code: 'invalid_input',
      fields: { only: 'The finding does not have so many files.' },
    });
    expect(await remove('uploads', [0, 4])).toBe('');
    expect([...wordpress.files.keys()]).toEqual([names[1], names[2], names[3], names[5]]);
  });

  it('leaves a file that has changed since the checkup, with its finding renewed, and says so', async () => {
    const { wordpress, remove, readFinding, listRemoved } = await start({ [uploads('x.php')]: SHELL });
    const { key } = await readFinding('uploads');
    wordpress.files.set(uploads('x.php'), 'another shell');
    expect(await remove('uploads')).toBe(`${uploads('x.php')} was not removed. It has changed since the checkup.`);
    expect([await listRemoved(), (await readFinding('uploads')).key === key]).toEqual([[], false]);
  });

  it.each([
    ['not_writable', 'WordPress may not change its folder. Ask your hosting provider to look at it.'],
    ['linked', 'It is a link, or lies behind one. Ask your hosting provider to look at it.'],
    ['too_large', 'It is larger than 4 MB, so no copy can be kept. Delete it by SFTP.'],
    ['of_a_later_connector', 'WordPress could not do it.'],
  ])('says why a file stays: %s', async (reason, sentence) => {
    const { wordpress, remove, listRemoved, audit } = await start({ [uploads('x.php')]: SHELL });
    wordpress.reasons.set(uploads('x.php'), reason);
    await expect(remove('uploads')).rejects.toThrow(`${uploads('x.php')} was not removed. ${sentence}`);
    expect([wordpress.files.size, await listRemoved(), await audit()]).toEqual([1, [], []]);
  });

  it('is done when the file is gone already: the finding is gone, too', async () => {
    const { wordpress, remove, look, listRemoved } = await start({ [uploads('x.php')]: SHELL });
    wordpress.files.clear();
    expect(await remove('uploads')).toBe(`${uploads('x.php')} was not removed. It is no longer there.`);
    expect([(await look()).latest?.findings.length, await listRemoved()]).toEqual([1, []]);
  });

  it('does not take the name of a file for markup of the message', async () => {
    const name = uploads('<a href="https://example.net">Restore access</a> & more.php');
    const { wordpress, remove, restore } = await start({ [name]: SHELL });
    wordpress.reasons.set(name, 'linked');
    const shown = '&lt;a href="https://example.net">Restore access&lt;/a> &amp; more.php was not';
    await expect(remove('uploads')).rejects.toThrow(`${shown} removed.`);
    wordpress.reasons.clear();
    await remove('uploads');
    wordpress.files.set(name, 'mine');
    await expect(restore()).rejects.toThrow(`${shown} restored.`);
  });

  it('leaves a file that changes while it is read, and keeps no copy', async () => {
    const { wordpress, remove, listRemoved } = await start({ [uploads('x.php')]: SHELL });
    const { readFinding } = wordpress;
    wordpress.readFinding = async (target, offset) => ({
      ...(await readFinding.call(wordpress, target, offset)),
      content: btoa(SHELL.replace('system', 'printf')),
    });
    await expect(remove('uploads')).rejects.toThrow('It has changed since the checkup.');
    expect([wordpress.files.size, await listRemoved()]).toEqual([1, []]);
  });

  it('keeps what it has done when WordPress stops answering in the middle', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => uploads(`${name}.php`));
    const { wordpress, remove, listRemoved, audit } = await start(
      Object.fromEntries(names.map((name) => [name, SHELL])),
    );
    wordpress.silentAt.add(uploads('c.php'));
    expect(await remove('uploads')).toBe(
      `${uploads('c.php')} was not removed. WordPress did not answer. Try again in a minute. ` +
        '3 more files were not removed either.',
    );
    expect(await listRemoved()).toEqual([uploads('a.php'), uploads('b.php')]);
    expect((await audit()).length).toBe(2);
  });

  it('keeps the copy when it does not learn whether the file was removed', async () => {
    const { wordpress, remove, restore, listRemoved } = await start({ [uploads('x.php')]: SHELL });
    wordpress.lostAnswers.add(uploads('x.php'));
    await expect(remove('uploads')).rejects.toBeInstanceOf(ConnectorError);
    expect(await listRemoved()).toEqual([uploads('x.php')]);
    expect(await restore()).toBe('');
    expect(wordpress.files.get(uploads('x.php'))).toBe(SHELL);
  });

  it('starts no further file when the time is over, and goes on at the next call', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => uploads(`${name}.php`));
    const { wordpress, remove } = await start(Object.fromEntries(names.map((name) => [name, SHELL])));
    wordpress.pace = 9000;
    expect(await remove('uploads')).toContain('There was no time left for it. Try again to go on.');
    expect(wordpress.files.size).toBe(3);
    wordpress.pace = 0;
    await remove('uploads');
    expect(wordpress.files.size).toBeLessThan(3);
  });

  it('keeps an earlier copy of the same file when the file came back and can’t be removed again', async () => {
    const { wordpress, remove, listRemoved, checkups } = await start({ [uploads('x.php')]: SHELL });
    await remove('uploads');
    wordpress.files.set(uploads('x.php'), SHELL);
    checkups.begin(site);
    await checkups.ended(site.id);
    wordpress.removeFinding = async () => 'not_writable';
    await expect(remove('uploads')).rejects.toThrow('WordPress may not change its folder.');
    expect(await listRemoved()).toEqual([uploads('x.php')]);
  });

  it('keeps at most 64 MB of copies for a site', async () => {
    const { wordpress, copies, remove } = await start({ [uploads('x.php')]: SHELL });
    const facts = { check: 'uploads' as const, path: '', file: 'x', state: '', at: wordpress.now, by: '', mode: 0 };
    const content = Buffer.alloc(4 * 1024 * 1024);
    for (let number = 0; number < 16; number += 1) {
      await copies.add(site.id, { ...facts, id: String(number), changedAt: 0, content });
    }
    await expect(remove('uploads')).rejects.toThrow('The copies of removed files take up 64 MB already.');
    expect(wordpress.files.size).toBe(1);
  });
});

describe('removing a file in a folder of WordPress', () => {
  it('compares the core files again before', async () => {
    const { wordpress, remove, readFinding } = await start({ 'wp-includes/x.php': SHELL, 'wp-y.php': SHELL });
    expect((await readFinding('core')).files).toEqual(['wp-includes/x.php', 'wp-y.php']);
    expect(await remove('core', [0])).toBe('');
    expect([...wordpress.files.keys()]).toEqual(['wp-y.php']);
  });

  it('leaves a file that has become a part of WordPress since', async () => {
    const { wordpress, remove, look } = await start({ 'wp-includes/new.php': SHELL });
    wordpress.official.add('wp-includes/new.php');
    expect(await remove('core')).toBe('wp-includes/new.php was not removed. It has changed since the checkup.');
    expect([wordpress.files.size, (await look()).latest?.findings.length]).toEqual([1, 1]);
  });

  it('removes nothing while the core files can’t be compared', async () => {
    const { wordpress, remove, readFinding } = await start({ 'wp-y.php': SHELL });
    wordpress.coreAnswers = false;
    await expect(remove('core')).rejects.toThrow('Core files can’t be compared at the moment');
    expect([wordpress.files.size, (await readFinding('core')).check]).toEqual([1, 'core']);
  });
});

describe('a check that can’t be repeated after a removal', () => {
  it.each([
    { only: null, left: [] },
    { only: [0], left: ['core'] },
  ])('keeps what it had found, except for what was removed as a whole: $only', async ({ only, left }) => {
    const { wordpress, remove, look } = await start({ 'wp-y.php': SHELL, 'wp-z.php': SHELL });
    const { removeFinding } = wordpress;
    wordpress.removeFinding = (target) => {
      wordpress.coreAnswers = false;
      return removeFinding.call(wordpress, target);
    };
    expect(await remove('core', only)).toBe('');
    const { latest } = await look();
    expect(latest?.findings.map(({ check }) => check)).toEqual([...left, 'administrators']);
    expect(latest?.checks[0]).toMatchObject({ check: 'core', ran: 1 });
  });
});

describe('removing an administrator', () => {
  it('gives the content to the caller, forgets all sessions, and renews the finding', async () => {
    const { wordpress, remove, look, forgotten } = await start();
    expect(await remove('administrators')).toBe('');
    expect([wordpress.administrators.size, (await look()).latest?.findings, forgotten]).toEqual([0, [], [site.id]]);
  });

  it('changes nothing when the user is no administrator any more, and says so', async () => {
    const { wordpress, remove, look } = await start();
    wordpress.administrators.clear();
    expect(await remove('administrators')).toBe('This user is no longer an administrator. Nothing was changed.');
    expect((await look()).latest?.findings).toEqual([]);
  });

  it('is neither offered nor possible for the caller’s own account', async () => {
    const { wordpress, look, readFinding, removal } = await start();
    expect((await look(7)).latest?.findings[0]).toMatchObject({ remove: '' });
    expect((await look(1)).latest?.findings[0]).toMatchObject({ remove: 'administrator', files: [] });
    const { key } = await readFinding('administrators');
    const helper = { id: 7, login: 'web-helper', address: null };
    await expect(removal.remove(site, { key, only: null }, helper)).rejects.toThrow('You can’t remove yourself.');
    expect(wordpress.administrators.size).toBe(1);
  });

  it('is not possible for the command line, which has no account to take the content', async () => {
    const { removal, readFinding } = await start();
    const cli = { id: null, login: 'command line', address: null };
    const { key } = await readFinding('administrators');
    await expect(removal.remove(site, { key, only: null }, cli)).rejects.toThrow(
      'Only a user of WordPress can do this.',
    );
  });
});

describe('a removal', () => {
  it('is refused while a checkup runs, and a checkup waits for a removal', async () => {
    const { wordpress, checkups, removal, remove, readFinding, held, look } = await start({
      [uploads('x.php')]: SHELL,
    });
    const { key } = await readFinding('uploads');
    let go: () => void = () => undefined;
    held.checkup = new Promise((resolve) => {
      go = resolve;
    });
    checkups.begin(site);
    await expect(remove('uploads')).rejects.toMatchObject({ code: 'checkup_running' });
    go();
    await checkups.ended(site.id);
    const removing = removal.remove(site, { key, only: null }, owner);
    checkups.begin(site);
    await removing;
    await checkups.ended(site.id);
    expect([wordpress.files.size, (await look()).latest?.findings.length]).toEqual([0, 1]);
  });

  it('of a finding that the latest checkup does not have is refused', async () => {
    const { removal } = await start();
    await expect(removal.remove(site, { key: 'x', only: null }, owner)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a removed file', () => {
  it('is not restored over another file, and stays in the list', async () => {
    const { wordpress, remove, restore, listRemoved } = await start({ [uploads('x.php')]: SHELL });
    await remove('uploads');
    wordpress.files.set(uploads('x.php'), 'mine');
    await expect(restore()).rejects.toMatchObject({
      code: 'not_restored',
      message: `${uploads('x.php')} was not restored. Another file has taken its place.`,
    });
    expect([wordpress.files.get(uploads('x.php')), await listRemoved()]).toEqual(['mine', [uploads('x.php')]]);
  });

  it('can’t be restored when its copy is gone, or by another site', async () => {
    const { removal, remove, look, copies } = await start({ [uploads('x.php')]: SHELL });
    await remove('uploads');
    const ids = (await look()).removed.map(({ id }) => toEnglish(id));
    await expect(removal.restore({ ...site, id: 'another' }, ids, owner)).rejects.toThrow(
      'Its copy is no longer kept.',
    );
    await copies.delete(site.id, ids[0] ?? '');
    await expect(removal.restore(site, ids, owner)).rejects.toThrow('Its copy is no longer kept.');
  });

  it('is forgotten after 30 days', async () => {
    const { wordpress, remove, checkups, listRemoved } = await start({ [uploads('x.php')]: SHELL });
    await remove('uploads');
    wordpress.now += COPY_KEPT_MS - 1000;
    await checkups.round();
    expect(await listRemoved()).toEqual([uploads('x.php')]);
    wordpress.now += 3600_000;
    await checkups.round();
    expect(await listRemoved()).toEqual([]);
  });
});
