import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runInChild } from '../../test/support/command-line.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { canSwitchUsers, changeOwner, GUARD, OWNER, openFolder, program } from '../../test/support/users.js';

/** Every command that works in a data folder with a configuration. */
const COMMANDS: readonly (readonly string[])[] = [
  ['sites', 'add', '--all'],
  ['sites', 'remove'],
  ['sites', 'list'],
  ['sites', 'show', 'site'],
  ['sites', 'export'],
  ['settings', 'export'],
  ['privacy', 'export', '--user', 'mia'],
  ['privacy', 'erase', '--user', 'mia', '--yes'],
  ['back-up', 'BACK-UP'],
  ['erase', '--site', 'gone'],
  ['status'],
  ['doctor', 'site'],
  ['unblock', '192.0.2.7'],
  ['login-url', 'reset'],
  ['login-access', 'clear'],
  ['two-factor', 'reset', 'mia'],
  ['away-mode', 'off'],
  ['pause', '5'],
  ['resume'],
  ['serve'],
];

const SITE = { listen: '127.0.0.1:0', sites: [{ id: 'site', upstream: 'http://127.0.0.1:1', hosts: ['example.com'] }] };

/** Not a stack trace, nor a bare error of the system. */
const PLAIN = /^(?!.*(?:^ +at |Error:|undefined|\[object))/ms;

const named = (command: readonly string[], folder: string) =>
  command.map((word) => (word === 'BACK-UP' ? join(folder, 'back-up') : word));

describe('a command fails with a message that names the file and the remedy', () => {
  it.each<[string, (dataDir: string) => string, RegExp]>([
    [
      'is missing',
      (dataDir) => join(dataDir, 'missing'),
      /missing(?:\/guard\.json: can’t be read \(ENOENT\)| has no guard\.json)/,
    ],
    [
      'is a file',
      (dataDir) => join(dataDir, 'guard.json'),
      /guard\.json\/guard\.json: can’t be read \(ENOTDIR\); --data-dir must name a folder/,
    ],
  ])('where the data folder %s', async (_, toFolder, message) => {
    const root = await scratchFolder();
    const outside = await scratchFolder();
    writeFileSync(join(root, 'guard.json'), JSON.stringify(SITE));
    for (const command of COMMANDS) {
      const { status, stdout, stderr } = await runInChild(...named(command, outside), '--data-dir', toFolder(root));
      expect([command, status, stdout, stderr]).toEqual([command, 1, '', expect.stringMatching(message)]);
      expect(stderr).toMatch(PLAIN);
    }
    expect([readdirSync(root), readdirSync(outside)]).toEqual([['guard.json'], []]);
  });

  it.each<[string, (file: string) => void, RegExp]>([
    ['is no JSON', (file) => writeFileSync(file, '{"a":'), /guard\.json: is not valid JSON/],
    [
      'has a key that can’t be used',
      (file) => writeFileSync(file, '{"listen":5}'),
      /guard\.json: listen: use HOST:PORT/,
    ],
    ['is a folder', (file) => mkdirSync(file), /guard\.json: can’t be read \(EISDIR\); it must be a file/],
  ])('where guard.json %s', async (_, damage, message) => {
    const dataDir = await scratchFolder();
    const outside = await scratchFolder();
    damage(join(dataDir, 'guard.json'));
    for (const command of COMMANDS) {
      const { status, stderr } = await runInChild(...named(command, outside), '--data-dir', dataDir);
      expect([command, status, stderr]).toEqual([command, 1, expect.stringMatching(message)]);
      expect(stderr).toMatch(PLAIN);
    }
    expect(readdirSync(outside)).toEqual([]);
  });

  it('where a back-up is to be written into a file, or the database is damaged', async () => {
    const dataDir = await scratchFolder();
    writeFileSync(join(dataDir, 'guard.json'), JSON.stringify(SITE));
    const file = join(dataDir, 'guard.json');
    expect(await runInChild('back-up', file, '--data-dir', dataDir)).toMatchObject({
      status: 1,
      stderr: `${file} is not a folder. Name a new or an empty one.\n`,
    });
    writeFileSync(join(dataDir, 'guard.sqlite'), 'no database '.repeat(1000));
    const folder = join(await scratchFolder(), 'back-up');
    expect(await runInChild('back-up', folder, '--data-dir', dataDir)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`The back-up failed: ${join(dataDir, 'guard.sqlite')}: file is not a database.`),
    });
    expect(existsSync(folder)).toBe(false);
  });

  it.skipIf(!canSwitchUsers).each<[string, number, number, number]>([
    ['of another user', 0, 0o755, OWNER],
    ['in which its owner may not write', OWNER, 0o555, OWNER],
    ['whose configuration its owner may not read, called by root', GUARD, 0o700, 0],
  ])('in a data folder %s (skipped without root)', async (_, owner, mode, caller) => {
    const root = await openFolder();
    const dataDir = join(root, 'data');
    mkdirSync(join(dataDir, 'sites'), { recursive: true });
    writeFileSync(join(dataDir, 'guard.json'), JSON.stringify(SITE));
    writeFileSync(join(dataDir, 'sites', 'site.secret'), 'a'.repeat(64), { mode: 0o600 });
    changeOwner(dataDir, owner);
    chmodSync(dataDir, mode);
    if (caller === 0) chmodSync(join(dataDir, 'guard.json'), 0o000);
    const mayRead = caller !== 0;
    for (const command of COMMANDS) {
      const args = [program, ...named(command, join(root, 'missing')), '--data-dir', dataDir];
      const { status, stdout, stderr } = spawnSync(process.execPath, args, {
        uid: caller,
        gid: caller,
        encoding: 'utf8',
      });
      expect(stdout + stderr).toMatch(PLAIN);
      // What only reads works with what it can read.
      const isReading = mayRead && /^(?:sites (?:list|show|export|add)|status|doctor)/.test(command.join(' '));
      if (isReading) continue;
      expect([command, status, stderr]).toEqual([
        command,
        1,
        expect.stringMatching(
          /as root, or as the user who owns the data folder|EACCES|There is no folder|Nothing is kept/,
        ),
      ]);
    }
  });
});
