import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchFolder } from '../../test/support/scratch.js';
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
