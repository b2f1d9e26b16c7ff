import { existsSync, readdirSync, writeFileSync } from 'node:fs';

/** Path of libfaketime (package `faketime`), which gives a process its own clock; null if it is missing. */
export const fakeClockLibrary = find();

function find(): string | null {
  for (const folder of existsSync('/usr/lib') ? ['/usr/lib', '/usr/local/lib'] : []) {
    const dirs = [folder, ...readdirSync(folder).map((name) => `${folder}/${name}`)];
    const found = dirs.map((dir) => `${dir}/faketime/libfaketime.so.1`).find((file) => existsSync(file));
    if (found !== undefined) return found;
  }
  return null;
}

/** A clock for some processes that can be set while they run. Timers are not affected, as with a real clock. */
export function fakeClock(file: string): {
  readonly env: Readonly<Record<string, string>>;
  set(seconds: number): void;
} {
  const set = (seconds: number) => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}\n`);
  set(0);
  return {
    env: {
      LD_PRELOAD: fakeClockLibrary ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    },
    set,
  };
}
