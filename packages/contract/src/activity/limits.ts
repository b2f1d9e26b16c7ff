/**
 * Limits of the Activity Log that guard and the dashboard share. Sources: specification sections 3 and 9, API
 * clarifications.
 */

/** Allowed retention of the log in days (specification section 9). */
export const LOG_LIFETIMES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] as const;
export type LogLifetime = (typeof LOG_LIFETIMES)[number];
/** Seconds after a reduction of the retention in which no entry is deleted, so that the reduction can be undone. */
export const LOG_LIFETIME_UNDO_SECONDS = 60;
export const DEFAULT_LOG_LIFETIME: LogLifetime = 12;
/** The weekly report needs at least this retention in days. */
export const WEEKLY_REPORT_MIN_DAYS = 8;

/** Rows per page of a list, and in the limited view. */
export const PAGE_ROWS = 30;
export const LIMITED_ROWS = 5;
/** Maximum number of options of a filter in a response; a search finds the others. */
export const FILTER_OPTIONS_MAX = 200;

/** Default of the maximum number of recipients of the weekly report. */
export const DEFAULT_MAX_EMAILS = 5;
