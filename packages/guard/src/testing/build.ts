import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Builds the package before its tests run, so that child processes and workers never run stale code. */
export default function build(): void {
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  execFileSync(process.execPath, ['scripts/build.mjs', 'packages/guard'], { cwd: root, stdio: 'inherit' });
}
