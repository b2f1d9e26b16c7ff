import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startGateway, webServer } from './running-gateway.js';

const SIZE = 500 * 1024 * 1024;
const CHUNK = Buffer.alloc(256 * 1024, 97);
/**
 * Limit of the data in transit between the two ends: the system's buffers of two connections, and the data that guard
 * reads before it waits for the other side. The bench measures the memory (P2).
 */
const BUFFERED_MAX = 64 * 1024 * 1024;

describe('500 MB', () => {
  it('up are forwarded, with little data in transit at any time', async () => {
    let arrived = 0;
    let sent = 0;
    let max = 0;
    const port = await webServer((request, response) => {
      request.on('data', (chunk: Buffer) => {
        arrived += chunk.length;
        max = Math.max(max, sent - arrived);
      });
      request.on('end', () => response.end(String(arrived)));
    });
    const gateway = await startGateway(port);
    await new Promise<void>((resolve, reject) => {
      const socket = connect(gateway.port, '127.0.0.1');
      socket.on('error', reject);
      socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${SIZE}\r\n\r\n`);
      const more = (): void => {
        while (sent < SIZE) {
          sent += CHUNK.length;
          if (!socket.write(CHUNK)) return void socket.once('drain', more);
        }
      };
      more();
      socket.once('data', () => {
        socket.destroy();
        resolve();
      });
    });
    expect(arrived).toBe(SIZE);
    expect(max).toBeLessThan(BUFFERED_MAX);
  });

  it('down are forwarded, with little data in transit at any time, even to a visitor who pauses', async () => {
    let produced = 0;
    const port = await webServer((_request, response) => {
      response.writeHead(200, { 'Content-Length': SIZE });
      const more = (): void => {
        while (produced < SIZE) {
          produced += CHUNK.length;
          if (!response.write(CHUNK)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    const gateway = await startGateway(port);
    let arrived = 0;
    let max = 0;
    let paused = false;
    await new Promise<void>((resolve, reject) => {
      const socket = connect(gateway.port, '127.0.0.1');
      socket.on('error', reject);
      socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      socket.on('data', (chunk) => {
        max = Math.max(max, produced - arrived);
        arrived += chunk.length;
        if (paused || arrived < 10_000_000) return;
        paused = true;
        socket.pause();
        setTimeout(() => socket.resume(), 500);
      });
      socket.on('close', () => resolve());
    });
    expect(arrived).toBeGreaterThan(SIZE);
    expect(paused).toBe(true);
    expect(max).toBeLessThan(BUFFERED_MAX);
  });
});
