import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { exchangeJsonLines } from './json-lines.js';

/** A stream whose other side is a list of the bytes that were written. */
function recordedStream() {
  const written: string[] = [];
  const stream = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      done();
    },
  });
  return { stream, written };
}

describe('JSON over a stream', () => {
  it('is one value in each line, whatever a text contains', () => {
    const { stream, written } = recordedStream();
    const send = exchangeJsonLines<unknown, unknown>(stream, () => {});
    send(['a\nb', 1]);
    send({ c: 'é' });
    expect(written).toEqual(['["a\\nb",1]\n', '{"c":"é"}\n']);
  });

  it('is read in order, however its bytes arrive', async () => {
    const { stream } = recordedStream();
    const received: unknown[] = [];
    exchangeJsonLines<unknown, unknown>(stream, (value) => received.push(value));
    const bytes = Buffer.from('["é"]\n[1]\n{"a":"\\n"}\n');
    for (const byte of bytes) {
      stream.push(Buffer.from([byte]));
      await nextTurn();
    }
    expect(received).toEqual([['é'], [1], { a: '\n' }]);
  });

  it('is dropped when the other side has ended', () => {
    const { stream, written } = recordedStream();
    const send = exchangeJsonLines<unknown, unknown>(stream, () => {});
    stream.destroy(new Error('the other process has ended'));
    send(1);
    expect(written).toEqual([]);
  });
});
