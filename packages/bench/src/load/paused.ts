/**
 * Lets a process run only while something is done with it. Processes that work without being asked would otherwise
 * disturb the others' turns.
 */
export async function whileRunning<Result>(pid: number, work: () => Promise<Result>): Promise<Result> {
  process.kill(pid, 'SIGCONT');
  try {
    return await work();
  } finally {
    process.kill(pid, 'SIGSTOP');
  }
}
