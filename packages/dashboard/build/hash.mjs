import { createHash } from 'node:crypto';

/** Short hash of a file's content for its name, so that browsers may keep the file for ever. */
export function contentHash(content) {
  return createHash('sha256').update(content).digest('base64url').replace(/[-_]/g, 'x').slice(0, 8);
}
