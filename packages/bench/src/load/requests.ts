import { once } from 'node:events';
import { type Agent, get, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const CHUNK = Buffer.alloc(65_536, 'z');

/** Downloads a body. @param pauseMs pause after each mebibyte, as of a slow client @returns its size in bytes */
export async function download(url: string, pauseMs: number): Promise<number> {
  const response = await getResponse(url);
  let bytes = 0;
  let rested = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (pauseMs === 0 || bytes - rested < 2 ** 20) continue;
    rested = bytes;
    await sleep(pauseMs);
  }
  return bytes;
}

/** Uploads a body of the given size. @returns the body of the response */
export async function upload(url: string, size: number): Promise<string> {
  const sent = request(url, { method: 'PUT', agent: false, headers: { 'Content-Length': size } });
  const responded = once(sent, 'response') as Promise<[IncomingMessage]>;
  await pipeline(Readable.from(createChunks(size)), sent);
  const [response] = await responded;
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece;
  return text;
}

async function getResponse(url: string): Promise<IncomingMessage> {
  const sent = request(url, { agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}`);
  return response;
}

function* createChunks(size: number): Generator<Buffer> {
  for (let remaining = size; remaining > 0; remaining -= CHUNK.length)
    yield remaining < CHUNK.length ? CHUNK.subarray(0, remaining) : CHUNK;
}

/** Sends a GET request and returns the status of the response. */
export function getStatus(
  url: string,
  headers: Readonly<Record<string, string>>,
  agent: Agent | false = false,
): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode as number));
      response.on('error', reject);
    }).on('error', reject);
  });
}
