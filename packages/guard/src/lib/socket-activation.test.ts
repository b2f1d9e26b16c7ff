import { describe, expect, it } from 'vitest';
import { SocketActivationError, takeActivationSocket } from './socket-activation.js';

describe('takeActivationSocket', () => {
  it('takes nothing that is not for this process, and removes the variables for its children', () => {
    for (const [pid, fds] of [
      ['8', '1'],
      ['7', '0'],
      ['7', ''],
      ['7', '-1'],
      ['7', 'one'],
      ['07', '1'],
    ]) {
      const env = { LISTEN_PID: pid, LISTEN_FDS: fds, LISTEN_FDNAMES: 'guard', OTHER: 'stays' };
      expect([pid, fds, takeActivationSocket(env, 7)]).toEqual([pid, fds, null]);
      expect(env).toEqual({ OTHER: 'stays' });
    }
    expect(takeActivationSocket({}, 7)).toBeNull();
  });

  it('takes one socket, not several', () => {
    const env = { LISTEN_PID: '7', LISTEN_FDS: '2' };
    expect(() => takeActivationSocket(env, 7)).toThrow(SocketActivationError);
    expect(env).toEqual({});
  });
});
