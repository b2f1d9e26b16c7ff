import { type Command, UsageError } from './command.js';
import { onSite, recoveryOptionsHelp } from './recovery.js';

/** A day: whoever needs longer detaches the site. */
const MAX_MINUTES = 1440;

export const pauseCommand: Command = {
  name: 'pause',
  summary: 'Switch everything off for some minutes; guard only forwards.',
  help: `security-optimizer pause MINUTES --data-dir DIR [--site ID]

  MINUTES          1 to ${MAX_MINUTES}
${recoveryOptionsHelp}
Every protection of the site is off for that time, the second factor too. Then all is as before, and
administrators and editors who logged in meanwhile without it log in again. End it sooner with \`security-optimizer
resume\`; \`security-optimizer status\` says until when it lasts.`,
  run: (args) =>
    onSite(args, ['MINUTES'], async ({ change, now, words: [text = ''] }) => {
      const minutes = /^\d{1,4}$/.test(text) ? Number(text) : 0;
      if (minutes < 1 || minutes > MAX_MINUTES) throw new UsageError(`MINUTES: use 1 to ${MAX_MINUTES}.`);
      const until = now + minutes * 60_000;
      await change(() => ({ paused_until: until }));
      process.stdout.write(`Everything is off until ${new Date(until).toISOString()}.\n`);
      return 0;
    }),
};
