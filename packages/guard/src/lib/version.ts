import { readFileSync } from 'node:fs';

/** Version of this package and of its connector. */
export const version: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
