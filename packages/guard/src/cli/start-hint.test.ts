import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bin } from '../../test/support/command-line.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { wordpressFolder } from '../../test/support/wordpress-folder.js';
import { describeStart } from './start-hint.js';

const DATA = '/var/lib/security-optimizer';

async function unitIn(name: string, text: string): Promise<string> {
  const folder = join(await scratchFolder(), name);
  await mkdir(folder);
  await writeFile(join(folder, 'security-optimizer.service'), text);
  return folder;
}

const unit = (dataDir: string) =>
  `[Service]\nExecStart=/usr/bin/node bin/security-optimizer.js serve --data-dir ${dataDir}\nExecReload=/bin/kill\n`;

describe('how guard is started', () => {
  it('is by systemd where its unit runs guard on this data folder', async () => {
    const machine = { hasSystemd: true, unitFolders: ['/nowhere', await unitIn('units', unit(DATA))] };
    expect(describeStart(DATA, machine)).toBe('Start guard: systemctl start security-optimizer\n');
    expect(describeStart(`${DATA}/`, machine)).toBe('Start guard: systemctl start security-optimizer\n');
  });

  it('is by the command line elsewhere: without systemd, without a unit, with a unit of another data folder', async () => {
    const [here, other] = [await unitIn('units', unit(DATA)), await unitIn('units', unit('/srv/guard'))];
    for (const machine of [
      { hasSystemd: false, unitFolders: [here] },
      { hasSystemd: true, unitFolders: [] },
      { hasSystemd: true, unitFolders: [other, here] },
    ]) {
      expect(describeStart(DATA, machine)).toBe(`Start guard: security-optimizer serve --data-dir ${DATA}\n`);
    }
  });
});

/** Runs a program where systemd seems to run, with this unit, which is seen by this program alone. */
function withSystemd(unit: string, ...command: readonly string[]) {
  const script = `
    set -e
    mount -t tmpfs tmpfs /run
    mkdir -p /run/systemd/system
    if [ -d /etc/systemd/system ]; then mount -t tmpfs tmpfs /etc/systemd/system; fi
    [ -z "$1" ] || cp "$1" /run/systemd/system/security-optimizer.service
    shift
    exec "$@"`;
  return spawnSync('unshare', ['--mount', 'sh', '-c', script, 'sh', unit, ...command], { encoding: 'utf8' });
}

/** Linux, as root. */
const canPretend = process.platform === 'linux' && withSystemd('', 'true').status === 0;

describe.skipIf(!canPretend)('attach on a machine with systemd (skipped where no folder can be mounted)', () => {
  const exampleFile = new URL('../../../../docs/operator/examples/security-optimizer.service', import.meta.url);

  const attach = async (toUnit: (dataDir: string) => Promise<string>) => {
    const [wordpress, dataDir] = [await wordpressFolder(), await scratchFolder()];
    const args = ['attach', '--wordpress', wordpress, '--upstream', 'http://127.0.0.1:1', '--data-dir', dataDir];
    const { status, stdout } = withSystemd(await toUnit(dataDir), process.execPath, bin, ...args);
    expect(status).toBe(0);
    return { dataDir, last: stdout.split('\n').find((line) => line.startsWith('Start guard:')) };
  };

  it('names the unit of the guide, which runs guard on this data folder', async () => {
    const example = await readFile(exampleFile, 'utf8');
    const { last } = await attach(async (dataDir) => {
      const text = example.replaceAll('/var/lib/security-optimizer', dataDir);
      expect(text).toContain(`--data-dir ${dataDir}`);
      return join(await unitIn('units', text), 'security-optimizer.service');
    });
    expect(last).toBe('Start guard: systemctl start security-optimizer');
  });

  it('names the command where the unit runs guard on another data folder, or there is none', async () => {
    const others = await unitIn('units', unit('/srv/guard'));
    for (const file of [join(others, 'security-optimizer.service'), '']) {
      const { dataDir, last } = await attach(async () => file);
      expect(last).toBe(`Start guard: security-optimizer serve --data-dir ${dataDir}`);
    }
  });

  it('leaves nothing of it on this machine', () => {
    expect(existsSync('/run/systemd/system/security-optimizer.service')).toBe(false);
  });
});
