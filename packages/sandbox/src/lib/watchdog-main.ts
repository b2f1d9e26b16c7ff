import { createInterface } from 'node:readline';
import { type ProcessRecord, readRecord, removeRecord } from './process-record.js';
import { endRecorded, type WatchdogMessage } from './service.js';

// The program that outlives the one that started it, for as long as it takes to end what that one left running.
// Named in the table of processes: a command that ends every `node` must not end this one.
process.title = 'sandbox-watchdog';
const watched = new Map<string, ProcessRecord>();
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as WatchdogMessage;
  if ('watch' in message) watched.set(message.watch, message.record);
  else watched.delete(message.forget);
}
await Promise.all(
  Array.from(watched, async ([pidFile, record]) => {
    await endRecorded(record, { remains: true });
    // By now the file may belong to the next start.
    const now = readRecord(pidFile);
    if (now?.pid === record.pid && now.started === record.started) removeRecord(pidFile);
  }),
);
