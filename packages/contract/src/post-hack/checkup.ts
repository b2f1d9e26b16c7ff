import * as z from 'zod/mini';
import { eventValues } from '../activity/schemas.js';
import { postHackRows } from '../settings/catalogue.js';
import { settingSchemas } from '../settings/options.js';
import { flag } from '../shapes.js';

/** The checks of a checkup, in the order of the page. */
export const CHECKS = ['core', 'administrators', 'uploads', 'plugins'] as const;
export type CheckName = (typeof CHECKS)[number];

/** Maximum number of names in a list of a finding or a note; the others are counted. */
const CHECKUP_ITEMS_MAX = 200;

const checkupFinding = z.object({
  /** Identifies the finding and its state: a file that was marked as known and changes again is a new finding. */
  key: z.string(),
  check: z.enum(CHECKS),
  title: z.string(),
  /** Details: what, since when and by whom. */
  text: z.string(),
  /** Effects of the fix, or other facts; may be empty. */
  fact: z.string(),
  /** Files, each with the time of its last change. */
  items: z.array(z.string()),
  /** An administrator who was added in the last seven days. */
  is_new: flag,
  /** URL in wp-admin for the fix; may be empty. */
  link: z.string(),
  link_text: z.string(),
  /** Plugin that a clean copy would fix, by WordPress's name; otherwise empty. */
  plugin: z.string(),
  /** What `/remove-finding` removes; empty if it can't fix this finding. */
  remove: z.enum(['', 'files', 'administrator']),
  /** Names of the files that it can remove. */
  files: z.array(z.string()),
});
export type CheckupFinding = z.infer<typeof checkupFinding>;

const checkOutcome = z.object({
  check: z.enum(CHECKS),
  /** 0: the check could not run, so nothing is known. */
  ran: flag,
  /** What could not be done and why; empty if the check ran. */
  title: z.string(),
  text: z.string(),
});
export type CheckOutcome = z.infer<typeof checkOutcome>;

/** Information that is not a finding. */
const checkupNote = z.object({
  id: z.string(),
  title: z.string(),
  text: z.string(),
  items: z.array(z.string()),
  link: z.string(),
  link_text: z.string(),
  /** For changes of settings: the parts of the items. */
  changes: z.optional(z.array(z.object({ day: z.string(), user: z.string(), words: eventValues }))),
});
export type CheckupNote = z.infer<typeof checkupNote>;

/** A finding that is marked as known. */
const keptFinding = z.object({ key: z.string(), title: z.string(), at: z.int(), by: z.string() });

const checkupResult = z.object({
  /** Unix seconds. */
  at: z.int(),
  checks: z.array(checkOutcome),
  findings: z.array(checkupFinding),
  /** Findings that are omitted because an owner marked them as known. */
  kept: z.array(keptFinding),
  notes: z.array(checkupNote),
});
export type CheckupResult = z.infer<typeof checkupResult>;

/** A file that was removed and whose copy is kept. */
const removedFile = z.object({
  id: z.string(),
  /** Path below the folder of WordPress; the full path of a file elsewhere. */
  file: z.string(),
  /** When it was removed, Unix seconds. */
  at: z.int(),
  /** Login of the user who removed it. */
  by: z.string(),
  /** When the copy is deleted, Unix seconds. */
  until: z.int(),
});
export type RemovedFile = z.infer<typeof removedFile>;

/** Maximum number of files that are removed or restored by one call. */
export const REMOVED_MAX = CHECKUP_ITEMS_MAX;

const earlierCheckup = z.object({
  at: z.int(),
  findings: z.int(),
  /** Number of checks that did not run. */
  missing: z.array(z.enum(CHECKS)),
});

export const checkupSchema = z.object({
  /** Checks that have ended in the running checkup. */
  running: z.nullable(z.object({ done: z.int(), total: z.int() })),
  /** Why the last checkup did not finish; otherwise empty. */
  error: z.string(),
  /** The last checkup; null before the first one. */
  latest: z.nullable(checkupResult),
  /** Earlier checkups, newest first. */
  earlier: z.array(earlierCheckup),
  /** Number of earlier checkups that are not listed. */
  more: z.int(),
  /** Files of findings that were removed and can be restored, newest first. */
  removed: z.array(removedFile),
  weekly: z.object({
    ...settingSchemas(postHackRows),
    /** 0 is Sunday. */
    day: z.int(),
    /** `HH:MM` on the wall clock of the site. */
    time: z.string(),
    /** Recipients of a mail about new findings. */
    emails: z.array(z.string()),
  }),
});
export type Checkup = z.infer<typeof checkupSchema>;

/** Number of earlier checkups in the first response. */
export const EARLIER_SHOWN = 4;
