import { createHash } from 'node:crypto';
import { createReadStream, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { allOptions, logIn, type Session, setOptions } from '../../http/session.js';
import { onUnlikeStacks } from '../../stacks/stack.js';

const MB = 1024 * 1024;
const SIZE = 200 * MB;

/** The start of an archive, and a block of its content. WordPress would parse a whole video. */
const start = Buffer.from('PK\x03\x04', 'latin1');
const block = Buffer.alloc(MB, 'pictures of a long walk along the river; ');

/** As a form, since WordPress reads a raw body into memory. */
const boundary = 'a-boundary';
const head = Buffer.from(
  `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="long-walk.zip"\r\nContent-Type: application/zip\r\n\r\n`,
);
const tail = Buffer.from(`\r\n--${boundary}--\r\n`);

onUnlikeStacks('an upload of 200 MB with all seven toggles on', (stack) => {
  let owner: Session;
  beforeAll(async () => {
    owner = await logIn(stack);
    await setOptions(stack, owner, allOptions(1));
  });

  it('reaches the media library by REST, byte for byte', async () => {
    const sent = createHash('sha256');
    const response = await upload((bytes) => void sent.update(bytes));
    expect(response.status, response.body.slice(0, 500)).toBe(201);
    const { source_url } = JSON.parse(response.body) as { source_url: string };
    const file = join(stack.wordpressDir, new URL(source_url).pathname);
    expect(statSync(file).size).toBe(SIZE);
    expect(await hashFile(file)).toBe(sent.digest('hex'));
    rmSync(file);
  });

  /** Sends the archive with backpressure. `onBlock` gets each block before it is sent. */
  function upload(onBlock: (bytes: Buffer) => void): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const headers = {
        cookie: owner.cookie,
        'x-wp-nonce': owner.nonce,
        'content-type': `multipart/form-data; boundary=${boundary}`,
        'content-length': head.length + SIZE + tail.length,
      };
      const sending = request(`${stack.url}/wp-json/wp/v2/media`, { method: 'POST', headers }, (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (text: string) => {
          body += text;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      });
      sending.on('error', reject);
      sending.write(head);
      let at = 0;
      const send = (): void => {
        while (at < SIZE) {
          const bytes = at === 0 ? Buffer.concat([start, block.subarray(start.length)]) : block;
          onBlock(bytes);
          at += bytes.length;
          if (!sending.write(bytes)) {
            sending.once('drain', send);
            return;
          }
        }
        sending.end(tail);
      };
      send();
    });
  }
});

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
