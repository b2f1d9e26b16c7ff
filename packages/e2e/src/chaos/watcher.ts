import { setTimeout as sleep } from 'node:timers/promises';
import { sendRaw } from '../http/raw.js';
import type { WatcherSample } from './verdict.js';

/** How the watcher requests a plain page, through guard and without it. */
export interface Watched {
  readonly guardPort: number;
  readonly upstreamPort: number;
  readonly host: string;
  readonly from: string;
}

/** Between two requests, milliseconds. */
const PAUSE_MS = 250;
/**
 * Pause between two direct requests. Short enough to detect a stall of seconds, long enough not to load a real
 * WordPress.
 */
const DIRECT_PAUSE_MS = 100;

/**
 * Requests the page once through guard. Until the response arrives, it requests the same page from the web server
 * directly. The slowest of these responses shows how much time the machine and the web server took themselves.
 */
export async function samplePage(watched: Watched, when: WatcherSample['when']): Promise<WatcherSample> {
  let responded = false;
  const guarded = requestPage(watched, watched.guardPort).finally(() => {
    responded = true;
  });
  let directMs = 0;
  do {
    directMs = Math.max(directMs, (await requestPage(watched, watched.upstreamPort)).ms);
    await sleep(DIRECT_PAUSE_MS);
  } while (!responded);
  const { status, ms } = await guarded;
  return { when, status, ms: Math.round(ms), directMs: Math.round(directMs) };
}

/** Repeats requests until `isOver`. */
export async function watchPage(watched: Watched, isOver: () => boolean): Promise<WatcherSample[]> {
  const samples: WatcherSample[] = [];
  while (!isOver()) {
    samples.push(await samplePage(watched, 'during chaos'));
    await sleep(PAUSE_MS);
  }
  return samples;
}

async function requestPage({ host, from }: Watched, port: number): Promise<{ status: number | null; ms: number }> {
  const startedAt = performance.now();
  const bytes = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  const response = await sendRaw(port, bytes, { from }).catch(() => null);
  return { status: response?.status ?? null, ms: performance.now() - startedAt };
}
