import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Runs a program from the root of the checkout and passes stop signals on.
 *
 * @param output open file for its output; standard error when left out
 * @param more open files that it finds as 3, 4 and so on
 * @returns the exit code; 1 for a program that a signal has ended
 */
export function run(command, args, env = process.env, output = 2, more = []) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', output, output, ...more] });
    const pass = (signal) => child.kill(signal);
    process.on('SIGINT', pass).on('SIGTERM', pass);
    const settle = (done) => (value) => {
      process.off('SIGINT', pass).off('SIGTERM', pass);
      done(value);
    };
    child.once('error', settle(reject));
    child.once('exit', (code) => settle(resolve)(code ?? 1));
  });
}

/** Runs npm: the one that runs this script, otherwise the one on the PATH. */
export function npm(args) {
  const path = process.env.npm_execpath;
  return path?.endsWith('.js') ? run(process.execPath, [path, ...args]) : run('npm', args);
}
