/**
 * Stops this process when the npm that runs it has ended. npm sends SIGTERM to the shell between it and this script,
 * and the shell ends without passing the signal on. The only sign is that the parent process has changed.
 */
export function stopWithNpm(env = process.env) {
  if (env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 200);
  timer.unref();
}
