import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SHUTDOWN_TIMED_OUT, ShutdownDeadline } from './shutdown-deadline.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A deadline of one second that records its log lines and exit codes. */
function watched() {
  const lines: object[] = [];
  const codes: number[] = [];
  const logger = { error: (fields: object) => void lines.push(fields), flush: () => {} };
  const describe = () => ({ pending: ['database'] });
  const deadline = new ShutdownDeadline({
    ...{ ms: 1000, describe, exit: (code) => void codes.push(code) },
    logger: logger as never,
  });
  return { deadline, lines, codes };
}

describe('the deadline of a shutdown', () => {
  it('ends the process with a log line that names what is open', () => {
    const { deadline, lines, codes } = watched();
    deadline.start();
    vi.advanceTimersByTime(999);
    expect(codes).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(codes).toEqual([SHUTDOWN_TIMED_OUT]);
    expect(lines).toMatchObject([{ event: 'shutdown-timed-out', seconds: 1, pending: ['database'] }]);
    expect(lines[0]).toHaveProperty('resources');
  });

  it('does nothing before the shutdown begins', () => {
    const { lines, codes } = watched();
    vi.advanceTimersByTime(100_000);
    expect([lines, codes]).toEqual([[], []]);
  });

  it('may be released before the shutdown has begun', () => {
    const { deadline } = watched();
    expect(() => deadline.release()).not.toThrow();
  });
});
