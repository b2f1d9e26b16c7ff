/**
 * Stops this process when the npm that runs it is gone. npm passes SIGTERM to the shell between it and this script,
 * and a shell ends without passing it on; what is left to see is that the parent has changed.
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
