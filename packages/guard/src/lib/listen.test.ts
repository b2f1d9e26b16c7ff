import { once } from 'node:events';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { scratchFolder } from '../../test/support/scratch.js';
import { endedListener } from '../../test/support/sockets.js';
import { listenOn } from './listen.js';

function server(): Server {
  const created = createServer((socket) => {
    // A probe may close its connection before the greeting.
    socket.on('error', () => {});
    socket.end('hello');
  });
  onTestFinished(() => void created.close());
  return created;
}

const readAll = async (path: string): Promise<string> => {
  let text = '';
  for await (const chunk of connect({ path })) text += chunk;
  return text;
};

describe('listenOn', () => {
  it('returns the port that the system has chosen', async () => {
    const listening = server();
    const address = await listenOn(listening, { host: '127.0.0.1', port: 0 });
    expect(address).toEqual({ host: '127.0.0.1', port: (listening.address() as AddressInfo).port });
  });

  it('creates a socket file for its owner and group, whatever the umask, and removes it when the server closes', async () => {
    const folder = await scratchFolder();
    const path = join(folder, 'guard.sock');
    for (const umask of [0o000, 0o077]) {
      const before = process.umask(umask);
      const listening = server();
      try {
        expect(await listenOn(listening, { path })).toEqual({ path });
      } finally {
        process.umask(before);
      }
      expect((await stat(path)).mode & 0o777).toBe(0o660);
      expect(await readAll(path)).toBe('hello');
      listening.close();
      await once(listening, 'close');
      expect(await readdir(folder)).toEqual([]);
    }
  });

  it('replaces the socket file of a process that was killed', async () => {
    const path = join(await scratchFolder(), 'guard.sock');
    await endedListener(path);
    expect((await stat(path)).isSocket()).toBe(true);
    await listenOn(server(), { path });
    expect(await readAll(path)).toBe('hello');
  });

  it('does not change a socket on which another program listens, and reports it', async () => {
    const path = join(await scratchFolder(), 'guard.sock');
    await listenOn(server(), { path });
    await expect(listenOn(server(), { path })).rejects.toMatchObject({ code: 'EADDRINUSE', address: path });
    expect(await readAll(path)).toBe('hello');
  });

  it('never replaces a file that is no socket', async () => {
    const folder = await scratchFolder();
    const path = join(folder, 'guard.sock');
    await writeFile(path, 'mine');
    await expect(listenOn(server(), { path })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect((await stat(path)).size).toBe(4);
    await expect(listenOn(server(), { path: join(folder, 'none', 'a.sock') })).rejects.toMatchObject({
      code: 'EACCES',
    });
  });
});
