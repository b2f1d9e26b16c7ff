import { createInterface } from 'node:readline';
import { type ProcessRecord, readRecord, removeRecord } from './process-record.js';
import { stopRecorded, type WatchdogMessage } from './service.js';

// The watchdog: it outlives the process that started it and stops the services which that process left running.
// It has its own process title, so that `killall node` does not end it.
process.title = 'sandbox-watchdog';
const watched = new Map<string, ProcessRecord>();
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as WatchdogMessage;
  if ('watch' in message) watched.set(message.watch, message.record);
  else watched.delete(message.forget);
}
await Promise.all(
  Array.from(watched, async ([pidFile, record]) => {
    await stopRecorded(record, { remains: true });
    // The pid file may already belong to the next start.
    const current = readRecord(pidFile);
    if (current?.pid === record.pid && current.started === record.started) removeRecord(pidFile);
  }),
);
