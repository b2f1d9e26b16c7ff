import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Compiles the package before its tests run, so that child processes and workers never run stale code. */
export default function build(): void {
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  execFileSync('npx', ['tsc', '--build', 'packages/guard'], { cwd: root, stdio: 'inherit' });
}
