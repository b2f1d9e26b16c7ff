import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { recordedLog } from '../../test/support/logs.js';
import { eventually, scratchFolder } from '../../test/support/scratch.js';
import { silentLogger } from './logger.js';
import { createServiceState, SocketActivationError, takeActivationSocket } from './supervisor.js';

/** Prints each datagram it receives. `systemd-notify` waits until the descriptor in its last one is closed. */
const RECEIVER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('ready', flush=True)
while True:
    data, fds, flags, address = socket.recv_fds(s, 4096, 8)
    for fd in fds: __import__('os').close(fd)
    print(data.decode(), flush=True)
`;

const has = (program: string) => spawnSync(program, ['--version']).error === undefined;

describe('the state of the service', () => {
  it.skipIf(!has('systemd-notify') || !has('python3'))('is sent to a supervisor that requests it', async () => {
    const path = join(await scratchFolder(), 'notify.sock');
    const receiver = spawn('python3', ['-c', RECEIVER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void receiver.kill('SIGKILL'));
    let received = '';
    receiver.stdout.on('data', (chunk) => {
      received += chunk;
    });
    await once(receiver.stdout, 'data');
    const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, NOTIFY_SOCKET: path };
    const { logger, text } = recordedLog();
    const notify = createServiceState(env, logger);
    expect(env.NOTIFY_SOCKET).toBeUndefined();
    await notify('READY=1');
    await notify('STOPPING=1');
    await eventually(() => received.includes('STOPPING=1'));
    expect(received).toMatch(/READY=1[\s\S]*STOPPING=1/);
    expect(text()).toBe('');
  });

  it('is not sent when no supervisor requests it', async () => {
    await createServiceState({ PATH: '/nowhere' }, silentLogger())('READY=1');
  });

  it('is logged when it can’t be sent', async () => {
    const { logger, events } = recordedLog();
    await createServiceState({ PATH: '/nowhere', NOTIFY_SOCKET: '/nowhere/notify' }, logger)('READY=1');
    expect(events()).toEqual(['service-state-send-failed']);
  });
});

describe('takeActivationSocket', () => {
  it('ignores a socket for another process, and removes the variables for child processes', () => {
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

  it('accepts one socket, not several', () => {
    const env = { LISTEN_PID: '7', LISTEN_FDS: '2' };
    expect(() => takeActivationSocket(env, 7)).toThrow(SocketActivationError);
    expect(env).toEqual({});
  });
});
