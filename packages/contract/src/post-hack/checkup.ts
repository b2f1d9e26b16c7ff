import * as z from 'zod/mini';
import { eventValues } from '../activity/schemas.js';
import { flag } from '../shapes.js';

/** The checks of a checkup, in the order of the page. */
export const CHECKS = ['core', 'administrators', 'uploads', 'plugins'] as const;
export type CheckName = (typeof CHECKS)[number];

/** Names in one list of a finding or a note; the rest is counted. */
export const CHECKUP_ITEMS_MAX = 200;

export const checkupFinding = z.object({
  /** The same while the same thing is found in the same state: a kept file that changes again is a new finding. */
  key: z.string(),
  check: z.enum(CHECKS),
  title: z.string(),
  /** What, since when and by whom. */
  text: z.string(),
  /** What the fix costs, or what is known besides; may be empty. */
  fact: z.string(),
  /** Files, each with the time of its last change. */
  items: z.array(z.string()),
  /** An administrator of the last seven days. */
  is_new: flag,
  /** URL in wp-admin where it is fixed; empty when there is none. */
  link: z.string(),
  link_text: z.string(),
  /** Plugin that a clean copy would fix, as WordPress names it; otherwise empty. */
  plugin: z.string(),
});
export type CheckupFinding = z.infer<typeof checkupFinding>;

export const checkOutcome = z.object({
  check: z.enum(CHECKS),
  /** 0: it could not run, so nothing is known. */
  ran: flag,
  /** What could not be done, and why; empty for a check that ran. */
  title: z.string(),
  text: z.string(),
});
export type CheckOutcome = z.infer<typeof checkOutcome>;

/** Worth knowing, and no finding. */
export const checkupNote = z.object({
  id: z.string(),
  title: z.string(),
  text: z.string(),
  items: z.array(z.string()),
  link: z.string(),
  link_text: z.string(),
  /** The parts of the items, if they are changes of settings. */
  changes: z.optional(z.array(z.object({ day: z.string(), user: z.string(), words: eventValues }))),
});
export type CheckupNote = z.infer<typeof checkupNote>;

/** A finding that is marked as known. */
export const keptFinding = z.object({ key: z.string(), title: z.string(), at: z.int(), by: z.string() });

export const checkupResult = z.object({
  /** Unix seconds. */
  at: z.int(),
  checks: z.array(checkOutcome),
  findings: z.array(checkupFinding),
  /** Findings that are left out, since somebody keeps them. */
  kept: z.array(keptFinding),
  notes: z.array(checkupNote),
});
export type CheckupResult = z.infer<typeof checkupResult>;

export const earlierCheckup = z.object({
  at: z.int(),
  findings: z.int(),
  /** Checks that did not run. */
  missing: z.array(z.enum(CHECKS)),
});
export type EarlierCheckup = z.infer<typeof earlierCheckup>;

export const checkupSchema = z.object({
  /** Checks that have ended, while a checkup runs. */
  running: z.nullable(z.object({ done: z.int(), total: z.int() })),
  /** Why the last one was not finished; otherwise empty. */
  error: z.string(),
  /** Null before the first one. */
  latest: z.nullable(checkupResult),
  /** Those before it, newest first. */
  earlier: z.array(earlierCheckup),
  /** How many more there are. */
  more: z.int(),
  weekly: z.object({
    weekly_checkup: flag,
    /** 0 is Sunday. */
    day: z.int(),
    /** `HH:MM` on the wall clock of the site. */
    time: z.string(),
    /** Who gets a mail when something appears. */
    emails: z.array(z.string()),
  }),
});
export type Checkup = z.infer<typeof checkupSchema>;

/** Earlier checkups that are shown at first. */
export const EARLIER_SHOWN = 4;
