import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Stack } from '../../stacks/stack.js';

/** The plugin folder of a stack, as someone with access to the disk fills it. */
export function pluginsOnDisk(stack: Stack) {
  const folder = join(stack.wordpressDir, 'wp-content/plugins');
  const path = (name: string) => join(folder, name);
  return {
    path,
    put(plugin: string, files: Readonly<Record<string, string>>): void {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(path(`${plugin}/${name}`)), { recursive: true });
        writeFileSync(path(`${plugin}/${name}`), text);
      }
    },
    remove(...plugins: string[]): void {
      for (const plugin of plugins) rmSync(path(plugin), { recursive: true, force: true });
    },
    /** On the production stack another user runs PHP than the one who runs the tests. */
    handOver(): void {
      const { uid, gid } = statSync(join(stack.wordpressDir, 'wp-content'));
      execFileSync('chown', ['-R', `${uid}:${gid}`, folder]);
    },
  };
}

/** The head of a plugin's main file. */
export const pluginHeader = (name: string, version: string) =>
  `<?php\n/*\nPlugin Name: ${name}\nVersion: ${version}\nAuthor: Example\n*/\n`;
