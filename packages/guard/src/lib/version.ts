import { readFileSync } from 'node:fs';

/** Version of this package, which is also the version of the connector that belongs to it. */
export const version: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
