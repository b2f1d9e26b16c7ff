import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchFolder } from '../../test/support/scratch.js';
import { isInMaintenance, isMaintenanceResponse } from './maintenance.js';

const NOW = Date.UTC(2026, 10, 27, 12);
const since = (secondsAgo: number) => NOW / 1000 - secondsAgo;

describe('the file that puts WordPress into maintenance mode', () => {
  it.each([
    ['as WordPress writes it', `<?php $upgrading = ${since(0)}; ?>`],
    ['nearly ten minutes old', `<?php $upgrading = ${since(599)}; ?>`],
    ['from a clock that is ahead', `<?php $upgrading = ${since(-3600)}; ?>`],
    ['with the time in quotes', `<?php\n$upgrading='${since(30)}';`],
    ['that always returns the current time', '<?php $upgrading = time(); ?>'],
    ['that is empty', ''],
  ])('is in force %s', (_which, php) => {
    expect(isMaintenanceResponse(php, NOW)).toBe(true);
  });

  it.each([
    ['from an update that ended ten minutes ago', `<?php $upgrading = ${since(600)}; ?>`],
    ['with another past time', `<?php $upgrading = "${since(86_400)}";`],
    ['with time 0', '<?php $upgrading = 0;'],
  ])('is ignored as a leftover %s', (_which, php) => {
    expect(isMaintenanceResponse(php, NOW)).toBe(false);
  });

  it('is read in the folder of the site', async () => {
    const wordpressDir = await scratchFolder();
    expect(await isInMaintenance({ wordpressDir }, NOW)).toBe(false);
    await writeFile(join(wordpressDir, '.maintenance'), `<?php $upgrading = ${since(5)}; ?>`);
    expect(await isInMaintenance({ wordpressDir }, NOW)).toBe(true);
    expect(await isInMaintenance({ wordpressDir }, NOW + 600_000)).toBe(false);
  });

  it('is read only at its beginning, whatever its length', async () => {
    const wordpressDir = await scratchFolder();
    const php = `<?php $upgrading = ${since(86_400)}; ?>`;
    await writeFile(join(wordpressDir, '.maintenance'), php + ' '.repeat(1_000_000));
    expect(await isInMaintenance({ wordpressDir }, NOW)).toBe(false);
    await writeFile(join(wordpressDir, '.maintenance'), ' '.repeat(1_000_000) + php);
    expect(await isInMaintenance({ wordpressDir }, NOW)).toBe(true);
  });

  it('is treated as absent where guard can’t read it or the folder is unknown', async () => {
    const wordpressDir = await scratchFolder();
    await mkdir(join(wordpressDir, '.maintenance'));
    expect(await isInMaintenance({ wordpressDir }, NOW)).toBe(false);
    expect(await isInMaintenance({ wordpressDir: join(wordpressDir, 'nowhere') }, NOW)).toBe(false);
    expect(await isInMaintenance({ wordpressDir: null }, NOW)).toBe(false);
  });
});
