import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scratchFolder } from './scratch.js';

/** A folder with the files that identify a WordPress, removed after the test. */
export async function wordpressFolder(): Promise<string> {
  const dir = join(await scratchFolder(), 'wordpress');
  await mkdir(join(dir, 'wp-includes'), { recursive: true });
  await mkdir(join(dir, 'wp-content'));
  for (const file of ['wp-load.php', 'wp-includes/version.php', 'wp-config.php'])
    await writeFile(join(dir, file), '<?php');
  await chmod(join(dir, 'wp-config.php'), 0o640);
  return dir;
}
