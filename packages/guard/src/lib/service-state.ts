import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Logger } from './logger.js';

/** What a supervisor is told about the service (sd_notify(3)). */
export type ServiceState = 'READY=1' | 'STOPPING=1';

/**
 * Tells the supervisor what state the service is in, if one has asked for it with NOTIFY_SOCKET, which is removed. The
 * socket takes datagrams, which Node can't send over a Unix socket; the program `systemd-notify` does it.
 */
export function createServiceState(env: NodeJS.ProcessEnv, logger: Logger): (state: ServiceState) => Promise<void> {
  const { NOTIFY_SOCKET: socket } = env;
  delete env.NOTIFY_SOCKET;
  return async (state) => {
    if (socket === undefined || socket === '') return;
    try {
      await promisify(execFile)('systemd-notify', [state], { env: { ...env, NOTIFY_SOCKET: socket }, timeout: 10_000 });
    } catch (error) {
      logger.warn({ event: 'service-state-send-failed', state, err: error }, 'systemd could not be told the state.');
    }
  };
}
