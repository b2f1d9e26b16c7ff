import type { RawHeaders } from './protection.js';

/** Removes every header of that lower-case name. */
export function removeHeader(headers: RawHeaders, name: string): void {
  for (let i = headers.length - 2; i >= 0; i -= 2) {
    const header = headers[i] as string;
    if (header.length === name.length && header.toLowerCase() === name) headers.splice(i, 2);
  }
}
