import { describe, expect, it } from 'vitest';
import { UploadLimiter, type UploadWaiter } from './upstream-client.js';

function uploadLimiter() {
  const uploads = new UploadLimiter(16);
  const granted: string[] = [];
  const refused: string[] = [];
  const enter = (from: string): UploadWaiter => {
    const upload = { from, granted: () => void granted.push(from), refused: () => void refused.push(from) };
    uploads.acquire(upload);
    return upload;
  };
  return { uploads, granted, refused, enter };
}

describe('slow uploads', () => {
  it('hold an eighth of the connections for one address, and half for all', () => {
    const { granted, enter } = uploadLimiter();
    for (const from of ['a', 'a', 'a', 'b', 'b', 'c', 'c', 'd', 'd', 'e']) enter(from);
    expect(granted).toEqual(['a', 'a', 'b', 'b', 'c', 'c', 'd', 'd']);
  });

  it('wait, and are passed over while their address is at its limit', () => {
    const { uploads, granted, enter } = uploadLimiter();
    const [first] = ['a', 'a', 'b', 'b', 'c', 'c', 'd', 'd'].map(enter);
    ['b', 'e', 'a'].forEach(enter);
    uploads.release(first as UploadWaiter);
    expect(granted.slice(8)).toEqual(['e']);
  });

  it('stop waiting when their client goes, and give back their permit only once', () => {
    const { uploads, granted, enter } = uploadLimiter();
    const [one, two] = ['a', 'a'].map(enter);
    const third = enter('a');
    uploads.release(third);
    uploads.release(one as UploadWaiter);
    uploads.release(one as UploadWaiter);
    uploads.release(two as UploadWaiter);
    expect(granted).toEqual(['a', 'a']);
    ['a', 'a', 'a'].forEach(enter);
    expect(granted).toHaveLength(4);
  });

  it('are refused when too many wait', () => {
    const { refused, enter } = uploadLimiter();
    for (let i = 0; i < 2 + 64; i++) enter('a');
    expect(refused).toEqual([]);
    enter('a');
    expect(refused).toEqual(['a']);
  });
});
