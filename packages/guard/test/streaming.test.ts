import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { runningGate, webServer } from './running-gate.js';

const SIZE = 500 * 1024 * 1024;
const PIECE = Buffer.alloc(256 * 1024, 97);
const MOST_MORE = 150 * 1024 * 1024;

/** Highest resident memory above the start while `work` runs; sender, guard and receiver share this process. */
async function growthDuring(work: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 20);
  await work();
  clearInterval(timer);
  return most - before;
}

describe('500 MB', () => {
  it('up pass through in constant memory', async () => {
    let arrived = 0;
    const port = await webServer((request, response) => {
      request.on('data', (piece: Buffer) => {
        arrived += piece.length;
      });
      request.on('end', () => response.end(String(arrived)));
    });
    const gate = await runningGate(port);
    const growth = await growthDuring(
      () =>
        new Promise<void>((resolve, reject) => {
          const socket = connect(gate.port, '127.0.0.1');
          socket.on('error', reject);
          socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${SIZE}\r\n\r\n`);
          let sent = 0;
          const more = (): void => {
            while (sent < SIZE) {
              sent += PIECE.length;
              if (!socket.write(PIECE)) return void socket.once('drain', more);
            }
          };
          more();
          socket.once('data', () => {
            socket.destroy();
            resolve();
          });
        }),
    );
    expect(arrived).toBe(SIZE);
    expect(growth).toBeLessThan(MOST_MORE);
  }, 60_000);

  it('down pass through in constant memory, also to a visitor who stops in between', async () => {
    let produced = 0;
    const port = await webServer((_request, response) => {
      response.writeHead(200, { 'Content-Length': SIZE });
      const more = (): void => {
        while (produced < SIZE) {
          produced += PIECE.length;
          if (!response.write(PIECE)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    const gate = await runningGate(port);
    let arrived = 0;
    let producedWhilePaused = 0;
    const growth = await growthDuring(
      () =>
        new Promise<void>((resolve, reject) => {
          const socket = connect(gate.port, '127.0.0.1');
          socket.on('error', reject);
          socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
          let paused = false;
          socket.on('data', (piece) => {
            arrived += piece.length;
            if (paused || arrived < 10_000_000) return;
            paused = true;
            socket.pause();
            setTimeout(() => {
              producedWhilePaused = produced;
              socket.resume();
            }, 500);
          });
          socket.on('close', () => resolve());
        }),
    );
    expect(arrived).toBeGreaterThan(SIZE);
    // Back-pressure reached the sender: most was still to be made when the visitor went on reading.
    expect(producedWhilePaused).toBeLessThan(SIZE / 4);
    expect(growth).toBeLessThan(MOST_MORE);
  }, 60_000);
});
